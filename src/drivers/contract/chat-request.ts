import type { Json } from '../../model/digest.ts';
import type { TokenRequest } from './driver.ts';

/** Upper limit of tokens in the golden answer. @see docs/mesh.md */
const goldenTokens = 32;

/** Any model can answer this question, and the answer uses all tokens. */
const question = 'Count from one to twenty in words.';

/**
 * The body of the golden question: the request for one token with a different question, more tokens, and no sampling. At
 * temperature 0 a seed decides nothing, and it makes mlx_lm.server answer outside its batches, where a canceled request
 * hangs a mesh.
 *
 * @see `_is_batchable` of mlx_lm/server.py in mlx-lm 0.32.2
 */
export const goldenBody = (token: Pick<TokenRequest, 'path' | 'body'>): Json => ({
  ...withQuestion(token, question),
  max_tokens: goldenTokens,
  temperature: 0,
  stream: false,
});

/**
 * Whether an endpoint path accepts a prompt (OpenAI's older Completions API) instead of a chat.
 *
 * @see OpenAI API reference, Completions and Chat Completions
 */
export const takesPrompt = (path: string): boolean => /(?<!\/chat)\/completions\/?(?:\?|$)/.test(path);

/** JSON pointer of the answer's text at this path. */
export const usualPointer = (path: string): string =>
  takesPrompt(path) ? '/choices/0/text' : '/choices/0/message/content';

const chatPath = '/v1/chat/completions';

/**
 * The smallest chat request: one word, one token, the same answer each time.
 *
 * @param model the endpoint's name for it
 * @see OpenAI API reference, Chat Completions
 */
export const chatRequest = (model: string): TokenRequest => requestAt(chatPath, model);

/** The smallest chat request for a runtime that reports the number of generated tokens. */
export const countedChatRequest = (model: string): TokenRequest => ({
  ...chatRequest(model),
  countPointer: '/usage/completion_tokens',
});

/** The smallest request for any path: a prompt if the path does not accept a chat. */
export const requestAt = (path: string, model: string): TokenRequest => ({
  path,
  body: { model, ...askedAt(path, 'Hi'), max_tokens: 1, temperature: 0, stream: false },
  pointer: usualPointer(path),
});

/** A request with a different question; everything else is unchanged. */
export function withQuestion(
  { path, body }: Pick<TokenRequest, 'path' | 'body'>,
  question: string,
): Readonly<Record<string, Json>> {
  const { messages: _messages, prompt: _prompt, ...rest } = body;
  return { ...rest, ...askedAt(path, question) };
}

const askedAt = (path: string, question: string): Readonly<Record<string, Json>> =>
  takesPrompt(path) ? { prompt: question } : { messages: [{ role: 'user', content: question }] };
