import type { GoldenCheck } from '../model/golden.ts';
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

/** How long the endpoint took for one token, and for an answer of so many. */
export interface GoldenTimes {
  readonly firstMs: number;
  readonly wholeMs: number;
  readonly tokens: number;
}

/** Tokens in a second once the first one is there; `undefined` where the times leave none for them. */
export function tokensPerSecond({ firstMs, wholeMs, tokens }: GoldenTimes): number | undefined {
  const restMs = wholeMs - firstMs;
  return tokens < 2 || restMs <= 0 ? undefined : Math.round(((tokens - 1) / restMs) * 100_000) / 100;
}
