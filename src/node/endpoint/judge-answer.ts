import type { GoldenCheck } from '../../model/endpoint-calls.ts';
import { given } from '../../model/given.ts';

/** What a model said, and what it thought aloud before; either may be empty. */
export interface AnswerParts {
  readonly answer: string;
  readonly thought: string;
}

const open = '<think>';
const close = '</think>';

/**
 * Parts the thoughts of a model from its answer: those that the server gives beside it, and those at its beginning up to
 * `</think>`. Many templates write the opening sign at the end of the question: without one, thoughts end only where the
 * closing sign ends its line, and only where the server told none apart; anywhere else an answer speaks of the sign.
 * Thoughts that were cut off have no end: then there is no answer.
 */
export function answerParts({ text, thought = '', isThought }: Extract<TokenAnswer, { kind: 'token' }>): AnswerParts {
  if (isThought === true) return { answer: '', thought: text };
  const isTold = thought.trim() !== '';
  const inside = insideText(text, isTold);
  const thoughts = [thought, inside.thought].filter((one) => one.trim() !== '');
  return { answer: inside.answer, thought: thoughts.join('\n') };
}

function insideText(text: string, isTold: boolean): AnswerParts {
  const begun = text.trimStart();
  if (begun.startsWith(open)) {
    const rest = begun.slice(open.length);
    const end = rest.indexOf(close);
    return end === -1 ? { answer: '', thought: rest.trim() } : partedAt(rest, end);
  }
  const end = text.indexOf(close);
  const isEnd = end !== -1 && /^[ \t\r]*(?:\n|$)/.test(text.slice(end + close.length));
  const isOpenedBefore = isEnd && !text.slice(0, end).includes(open);
  return isOpenedBefore && !isTold ? partedAt(text, end) : { answer: text, thought: '' };
}

const partedAt = (text: string, end: number): AnswerParts => ({
  answer: text.slice(end + close.length).trimStart(),
  thought: text.slice(0, end).trim(),
});

/** What an endpoint gave back for the golden question. */
type GoldenAnswer =
  /** What it thought aloud comes before what it said. `tokens` is what the endpoint counts itself: words are no tokens. */
  | { readonly kind: 'golden'; readonly text: string; readonly tokens?: number }
  /** `reason` is a few words that go on "no golden answer: …". */
  | { readonly kind: 'none'; readonly reason: string };

/** Control characters but line ends and tabs, and what a decoder puts in the place of what it cannot read. */
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/;

/**
 * Judges the answer to the golden question by itself: a token, printable where that is asked for. Whether it equals an
 * earlier one is for the caller, who has that. Never throws.
 */
export function judgeGolden(answer: HttpAnswer, pointer: string, check: GoldenCheck): GoldenAnswer {
  const judged = judgeToken(answer, pointer);
  if (judged.kind === 'none') return judged;
  const text = `${judged.thought ?? ''}${judged.text}`;
  if (check !== 'none' && unprintable.test(text)) return { kind: 'none', reason: 'the text is not printable' };
  if (check !== 'none' && text.trim() === '') return { kind: 'none', reason: 'the text is blank' };
  const tokens = tokensOf(answer.body);
  return { kind: 'golden', text, ...given({ tokens }) };
}

/** `usage.completion_tokens` of an answer. @see OpenAI API reference, the chat completion object */
function tokensOf(body: string): number | undefined {
  const document: unknown = JSON.parse(body);
  if (typeof document !== 'object' || document === null || !('usage' in document)) return undefined;
  const { usage } = document;
  if (typeof usage !== 'object' || usage === null || !('completion_tokens' in usage)) return undefined;
  const { completion_tokens: tokens } = usage;
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens > 0 ? tokens : undefined;
}

/** How long the endpoint took for one token, and for a whole answer. */
interface GoldenTimes {
  readonly firstMs: number;
  readonly wholeMs: number;
}

/** How fast an endpoint answers, as far as two answers of it tell. */
export type GoldenSpeed =
  /** Tokens in a second once the first one is there. Those that are not steady may be much too many, never too few. */
  | { readonly kind: 'measured'; readonly perSecond: number; readonly isSteady: boolean }
  /** The whole answer took no longer than one token alone: counted over all of its time. */
  | { readonly kind: 'at-least'; readonly perSecond: number }
  | { readonly kind: 'unknown'; readonly why: 'not-counted' | 'one-token' };

/**
 * From here on two measurements are compared with each other: the time of one token is taken off that of the answer, and
 * where little is left of it, that is what both of them vary by.
 */
const steady = { tokens: 8, restMs: 200 } as const;

/** How fast an answer of so many tokens came; `tokens` is absent where the endpoint does not count them. */
export function goldenSpeed({ firstMs, wholeMs }: GoldenTimes, tokens: number | undefined): GoldenSpeed {
  if (tokens === undefined) return { kind: 'unknown', why: 'not-counted' };
  if (tokens < 2) return { kind: 'unknown', why: 'one-token' };
  const restMs = wholeMs - firstMs;
  if (restMs <= 0) return { kind: 'at-least', perSecond: hundredths(tokens, Math.max(1, wholeMs)) };
  const isSteady = tokens >= steady.tokens && restMs >= steady.restMs;
  return { kind: 'measured', perSecond: hundredths(tokens - 1, restMs), isSteady };
}

const hundredths = (tokens: number, ms: number): number => Math.round((tokens / ms) * 100_000) / 100;

/** What an endpoint gave back for the request of one token. */
type TokenAnswer =
  /**
   * `text` is empty only where the runtime counted a token that has none. `thought` is what a model thought aloud
   * before it, where it says both; `isThought` where the text itself is all thought.
   */
  | { readonly kind: 'token'; readonly text: string; readonly thought?: string; readonly isThought?: true }
  /** `reason` is a few words that go on "no token: …". */
  | { readonly kind: 'none'; readonly reason: string };

/** An HTTP answer. `status` is 0 when there was none, as `curl -w '%{http_code}'` prints it. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const none = (reason: string): TokenAnswer => ({ kind: 'none', reason });

/** Where a chat completion has its text. @see OpenAI API reference, the chat completion object */
const chatPointer = '/choices/0/message/content';

/** Why no token was asked for: see `notAskedStatus`. */
export const notAskedReason = 'a request is in flight; it was not asked';

/** How a completion ends that gave a token; one that was broken off has another word, or none. */
const endings: readonly unknown[] = ['length', 'stop'];

/** Where servers put what a model thinks aloud; the tokens of a reasoning model begin there. */
const thoughtPointers = ['/choices/0/message/reasoning_content', '/choices/0/message/reasoning'];

/**
 * Whether an answer carries a token: status 200, JSON, and at the JSON pointer (RFC 6901) a text that is not empty.
 * An answer without text is none, since a mesh that lost a rank can go on answering 200. Of a chat completion what the
 * model thinks aloud counts as well: it comes from the same mesh, and the first token of some models is always one of
 * these. Never throws.
 *
 * @param countPointer where the runtime says how many tokens it generated, if it really counts them: then a counted
 * token without text is a token as well, since servers strip `<think>` from the text. A mesh that lost a rank counts none.
 * @example
 * judgeToken({ status: 200, body: '{"choices":[{"message":{"content":"Hi"}}]}' }, '/choices/0/message/content')
 * // { kind: 'token', text: 'Hi' }
 */
export function judgeToken(answer: HttpAnswer, pointer: string, countPointer?: string): TokenAnswer {
  if (answer.status === 0) return none('the endpoint did not answer');
  if (answer.status === notAskedStatus) return none(notAskedReason);
  if (answer.status !== 200) return none(`the endpoint answered with status ${answer.status}`);
  const document = parseJson(answer.body);
  if (document === undefined) return none('the answer is not JSON');
  const found = valueAt(document.value, pointer);
  const thought = pointer === chatPointer ? thoughtOf(document.value) : '';
  if (thought !== '') {
    return typeof found === 'string' && found !== ''
      ? { kind: 'token', text: found, thought }
      : { kind: 'token', text: thought, isThought: true };
  }
  if (typeof found !== 'string' || found === '') {
    if (countPointer !== undefined && hasCounted(document.value, countPointer)) return { kind: 'token', text: '' };
  }
  if (found === undefined) return none(`the answer has nothing at ${pointer}`);
  if (typeof found !== 'string') return none(`the answer has no text at ${pointer}`);
  return found === '' ? none(`the text at ${pointer} is empty`) : { kind: 'token', text: found };
}

function hasCounted(root: unknown, countPointer: string): boolean {
  const count = valueAt(root, countPointer);
  return Number.isInteger(count) && Number(count) >= 1 && endings.includes(valueAt(root, '/choices/0/finish_reason'));
}

/** Some servers write the same thought under both names. */
function thoughtOf(root: unknown): string {
  const thoughts = thoughtPointers.map((at) => valueAt(root, at)).filter((one) => typeof one === 'string');
  return [...new Set(thoughts)].join('');
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The value that a JSON pointer leads to; `undefined` when there is none, or when the pointer is no pointer. */
function valueAt(root: unknown, pointer: string): unknown {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(childOf, root);
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  // An array has `length` as its own property too.
  if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

/**
 * The status of a request that was not sent, or that a gateway did not pass on, since another one is in flight or a client
 * has just got a token. No runtime answers so. @see RFC 8470: 425 (Too Early)
 */
export const notAskedStatus = 425;
