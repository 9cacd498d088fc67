import type { Json } from '../../model/digest.ts';
import type { TokenRequest } from './driver.ts';

/** How many tokens the golden answer has at the most. @see docs/mesh.md */
const goldenTokens = 32;

/** Asks for a text that every model can write and that fills its tokens. */
const question = 'Count from one to twenty in words.';

/**
 * The body of the golden question, made from the request for one token: the same with another question and more tokens,
 * and nothing left to chance.
 */
export const goldenBody = (token: Pick<TokenRequest, 'path' | 'body'>): Json => ({
  ...withQuestion(token, question),
  max_tokens: goldenTokens,
  temperature: 0,
  seed: 0,
  stream: false,
});

/**
 * Whether an endpoint takes a prompt at this path, as the older of OpenAI's two ways to ask has it, and no chat.
 *
 * @see OpenAI API reference, Completions and Chat Completions
 */
export const takesPrompt = (path: string): boolean => /(?<!\/chat)\/completions\/?(?:\?|$)/.test(path);

/** Where the text of an answer stands that was asked for at this path. */
export const usualPointer = (path: string): string =>
  takesPrompt(path) ? '/choices/0/text' : '/choices/0/message/content';

const chatPath = '/v1/chat/completions';

/**
 * The smallest chat: one word, one token, the same answer each time.
 *
 * @param model the name by which the endpoint knows it
 * @see OpenAI API reference, Chat Completions
 */
export const chatRequest = (model: string): TokenRequest => requestAt(chatPath, model);

/** The same of a runtime that counts the tokens which it really generated. */
export const countedChatRequest = (model: string): TokenRequest => ({
  ...chatRequest(model),
  countPointer: '/usage/completion_tokens',
});

/** The same at another path: a prompt where that path takes no chat. */
export const requestAt = (path: string, model: string): TokenRequest => ({
  path,
  body: { model, ...askedAt(path, 'Hi'), max_tokens: 1, temperature: 0, stream: false },
  pointer: usualPointer(path),
});

/** A request with another question, and nothing else changed. */
export function withQuestion(
  { path, body }: Pick<TokenRequest, 'path' | 'body'>,
  question: string,
): Readonly<Record<string, Json>> {
  const { messages: _messages, prompt: _prompt, ...rest } = isObject(body) ? body : {};
  return { ...rest, ...askedAt(path, question) };
}

const askedAt = (path: string, question: string): Readonly<Record<string, Json>> =>
  takesPrompt(path) ? { prompt: question } : { messages: [{ role: 'user', content: question }] };

const isObject = (body: Json): body is { readonly [key: string]: Json } =>
  typeof body === 'object' && body !== null && !Array.isArray(body);
