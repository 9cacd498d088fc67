import type { GoldenCheck } from '../../model/golden.ts';
import { type HttpAnswer, judgeToken } from './judge-token.ts';

/** What an endpoint gave back for the golden question. */
export type GoldenAnswer =
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
  return { kind: 'golden', text, ...(tokens === undefined ? {} : { tokens }) };
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
export interface GoldenTimes {
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
