import { parsedJson } from '../../model/digest.ts';
import type { GoldenCheck } from '../../model/endpoint-calls.ts';
import { given } from '../../model/given.ts';

export interface AnswerParts {
  readonly answer: string;
  readonly thought: string;
}

const open = '<think>';
const close = '</think>';

/**
 * Separates a model's thinking from its answer: thinking that the server returns separately, and thinking at the start
 * up to `</think>`. Many templates put the opening tag at the end of the question. Without an opening tag, thinking
 * ends only at a closing tag at the end of a line, and only if the server separated nothing. Elsewhere, the answer
 * merely mentions the tag. If the thinking was cut off, there is no answer.
 */
export function answerParts({ text, thought = '', isThought }: Extract<TokenAnswer, { kind: 'token' }>): AnswerParts {
  if (isThought === true) return { answer: '', thought: text };
  const isSeparated = thought.trim() !== '';
  const inside = inFlightText(text, isSeparated);
  const thoughts = [thought, inside.thought].filter((one) => one.trim() !== '');
  return { answer: inside.answer, thought: thoughts.join('\n') };
}

function inFlightText(text: string, isSeparated: boolean): AnswerParts {
  const begun = text.trimStart();
  if (begun.startsWith(open)) {
    const rest = begun.slice(open.length);
    const end = rest.indexOf(close);
    return end === -1 ? { answer: '', thought: rest.trim() } : partedAt(rest, end);
  }
  const end = text.indexOf(close);
  const isEnd = end !== -1 && /^[ \t\r]*(?:\n|$)/.test(text.slice(end + close.length));
  const isOpenedBefore = isEnd && !text.slice(0, end).includes(open);
  return isOpenedBefore && !isSeparated ? partedAt(text, end) : { answer: text, thought: '' };
}

const partedAt = (text: string, end: number): AnswerParts => ({
  answer: text.slice(end + close.length).trimStart(),
  thought: text.slice(0, end).trim(),
});

type GoldenAnswer =
  /** `text` includes the thinking. `tokens` is the endpoint's own count, because words are not tokens. */
  | { readonly kind: 'golden'; readonly text: string; readonly tokens?: number }
  /** `reason` continues "no golden answer: …". `text` is an answer that is not printable. */
  | { readonly kind: 'none'; readonly reason: string; readonly text?: string };

/** Control characters except line ends and tabs, and the replacement character of decoders. */
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/;

/** Checks one golden answer: it must contain a token, and be printable if required. Never throws. */
export function judgeGolden(answer: HttpAnswer, pointer: string, check: GoldenCheck): GoldenAnswer {
  const judged = judgeToken(answer, pointer);
  if (judged.kind === 'none') return judged;
  const text = `${judged.thought ?? ''}${judged.text}`;
  const whole = isCutOff(answer.body) ? text.replace(/\ufffd{1,3}\s*$/, '') : text;
  if (check !== 'none' && text.trim() === '') return { kind: 'none', reason: 'the text is blank' };
  if (check !== 'none' && (whole.trim() === '' || unprintable.test(whole)))
    return { kind: 'none', reason: 'the text is not printable', text };
  const tokens = tokensOf(answer.body);
  return { kind: 'golden', text, ...given({ tokens }) };
}

/**
 * Whether the token limit ended the answer. Servers then return each byte of an incomplete last character, at most
 * three, as U+FFFD.
 *
 * @see mlx_lm.server 0.32.2, which flushes its detokenizer at the limit
 */
const isCutOff = (body: string): boolean => valueAt(parsedJson(body), '/choices/0/finish_reason') === 'length';

/** `usage.completion_tokens` of an answer. @see OpenAI API reference, the chat completion object */
function tokensOf(body: string): number | undefined {
  const tokens = valueAt(parsedJson(body), '/usage/completion_tokens');
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens > 0 ? tokens : undefined;
}

/** An endpoint's speed, as far as two of its answers show it. */
export type GoldenSpeed =
  /** Tokens per second after the first token. A value that is not steady may be much too high, but never too low. */
  | { readonly kind: 'measured'; readonly perSecond: number; readonly isSteady: boolean }
  /** The whole answer took no longer than a single token, so the speed is a lower bound over the whole time. */
  | { readonly kind: 'at-least'; readonly perSecond: number }
  | { readonly kind: 'unknown'; readonly why: 'not-counted' | 'one-token' };

/** Minimums for comparable measurements. The speed excludes the first token's time; the rest must not be noise. */
const steady = { tokens: 8, restMs: 200 } as const;

/**
 * The speed of an answer with this many tokens; `tokens` is absent if the endpoint does not count them. The times are
 * those of a one-token answer and of the whole answer.
 */
export function goldenSpeed(
  { firstMs, wholeMs }: { readonly firstMs: number; readonly wholeMs: number },
  tokens: number | undefined,
): GoldenSpeed {
  if (tokens === undefined) return { kind: 'unknown', why: 'not-counted' };
  if (tokens < 2) return { kind: 'unknown', why: 'one-token' };
  const restMs = wholeMs - firstMs;
  if (restMs <= 0) return { kind: 'at-least', perSecond: hundredths(tokens, Math.max(1, wholeMs)) };
  const isSteady = tokens >= steady.tokens && restMs >= steady.restMs;
  return { kind: 'measured', perSecond: hundredths(tokens - 1, restMs), isSteady };
}

const hundredths = (tokens: number, ms: number): number => Math.round((tokens / ms) * 100_000) / 100;

type TokenAnswer =
  /**
   * `text` is empty only if the runtime counted a token without text. `thought` is thinking before the text;
   * `isThought` means that the text itself is thinking.
   */
  | { readonly kind: 'token'; readonly text: string; readonly thought?: string; readonly isThought?: true }
  /** `reason` continues "no token: …". */
  | { readonly kind: 'none'; readonly reason: string };

/** An HTTP response. `status` is 0 if there was none, as in `curl -w '%{http_code}'`. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const none = (reason: string): TokenAnswer => ({ kind: 'none', reason });

/** JSON pointer of a chat completion's text. @see OpenAI API reference, the chat completion object */
const chatPointer = '/choices/0/message/content';

/** The reason why the request was not sent; see `notAskedStatus`. */
export const notAskedReason = 'another request is in flight, so none was sent';

/** The `finish_reason` of a completion with a token; an aborted one has a different value or none. */
const endings: readonly unknown[] = ['length', 'stop'];

/** JSON pointers where servers return thinking; a reasoning model's first tokens are there. */
const thoughtPointers = ['/choices/0/message/reasoning_content', '/choices/0/message/reasoning'];

/**
 * Checks whether a response contains a token: status 200, JSON, and a non-empty text at the JSON pointer (RFC 6901). An
 * empty text does not count, because a mesh that lost a rank can keep answering 200. In a chat completion, thinking
 * counts too: it comes from the same mesh, and some models always start with thinking. Never throws.
 *
 * @param countPointer pointer to the runtime's count of generated tokens, if it is real. Then a counted token without
 * text counts too, because servers strip `<think>`. A mesh that lost a rank counts no tokens.
 * @example judgeToken({ status: 200, body: '{"choices":[{"message":{"content":"Hi"}}]}' },
 * '/choices/0/message/content') // { kind: 'token', text: 'Hi' }
 */
export function judgeToken(answer: HttpAnswer, pointer: string, countPointer?: string): TokenAnswer {
  if (answer.status === 0) return none('the endpoint did not answer');
  if (answer.status === notAskedStatus) return none(notAskedReason);
  if (answer.status !== 200) return none(`the endpoint returned status ${answer.status}`);
  const document = parsedJson(answer.body);
  if (document === undefined) return none('the answer is not JSON');
  const found = valueAt(document, pointer);
  const thought = pointer === chatPointer ? thoughtOf(document) : '';
  if (thought !== '') {
    return typeof found === 'string' && found !== ''
      ? { kind: 'token', text: found, thought }
      : { kind: 'token', text: thought, isThought: true };
  }
  if (typeof found !== 'string' || found === '') {
    if (countPointer !== undefined && hasCounted(document, countPointer)) return { kind: 'token', text: '' };
  }
  if (found === undefined) return none(`the answer has no value at ${pointer}`);
  if (typeof found !== 'string') return none(`the answer has no text at ${pointer}`);
  return found === '' ? none(`the text at ${pointer} is empty`) : { kind: 'token', text: found };
}

function hasCounted(root: unknown, countPointer: string): boolean {
  const count = valueAt(root, countPointer);
  return Number.isInteger(count) && Number(count) >= 1 && endings.includes(valueAt(root, '/choices/0/finish_reason'));
}

/** Some servers return the same thinking under both names. */
function thoughtOf(root: unknown): string {
  const thoughts = thoughtPointers.map((at) => valueAt(root, at)).filter((one) => typeof one === 'string');
  return [...new Set(thoughts)].join('');
}

/** The value at a JSON pointer; `undefined` if there is none or the pointer is invalid. */
function valueAt(root: unknown, pointer: string): unknown {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(childOf, root);
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  // An array's own property `length` must not match.
  if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

/**
 * The status of a request that was not sent, or that a gateway did not forward, because another request is in flight or
 * a client has just received a token. No runtime returns this status. @see RFC 8470: 425 (Too Early)
 */
export const notAskedStatus = 425;
