import { escapeText } from '../../diagnostics/escape.ts';
import { reasonWords } from '../../diagnostics/reason-words.ts';
import type { DoorSight } from '../../model/gateway.ts';
import { durationText } from '../../model/text/units.ts';
import { utcText } from '../../model/text/utc-text.ts';
import type { ClientCounts } from '../../rack/endpoint/client-counts.ts';
import { hang } from '../layout.ts';
import type { Page } from '../page.ts';

/** What a doorman has counted as programs read it; what is absent is unknown. */
export type ClientCountsJson =
  | {
      readonly since?: string;
      readonly requests: number;
      readonly failed: number;
      readonly refused: number;
      readonly tokens: number;
      readonly running: number;
      readonly waiting: number;
      readonly tokensPerSecond?: number;
      readonly firstTokenMs?: number;
      readonly lastByteMsAgo?: number;
      readonly quietMs?: number;
      readonly closed?: string;
    }
  | { readonly unknown: string };

const oneDecimal = (value: number): number => Math.round(value * 10) / 10;

/** The speed of streamed answers, over all of them; absent where none was long enough to have one. */
const speedOf = ({ counts: { generating } }: DoorSight): number | undefined =>
  generating.totalMs > 0 && generating.tokens > 0
    ? oneDecimal((generating.tokens * 1_000) / generating.totalMs)
    : undefined;

/** How long the first token of a streamed answer took, on average; absent where there was none. */
const firstTokenOf = ({ counts: { firstToken } }: DoorSight): number | undefined =>
  firstToken.count > 0 ? Math.round(firstToken.totalMs / firstToken.count) : undefined;

/** One placement's counts for programs. */
export function clientCountsJson({ sight }: ClientCounts): ClientCountsJson {
  if (sight.kind === 'unknown') return { unknown: sight.detail === '' ? reasonWords[sight.reason] : sight.detail };
  const { counts, placement: _placement, running, waiting, lastByteMsAgo, quietMs, closed } = sight.value;
  const { requests, failed, refused, tokens, sinceEpochSeconds: since } = counts;
  const [tokensPerSecond, firstTokenMs] = [speedOf(sight.value), firstTokenOf(sight.value)];
  return {
    ...(since === undefined ? {} : { since: isoText(since) }),
    ...{ requests, failed, refused, tokens, running, waiting },
    ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(lastByteMsAgo === undefined ? {} : { lastByteMsAgo }),
    ...(quietMs === undefined ? {} : { quietMs }),
    ...(closed === undefined ? {} : { closed }),
  };
}

/** `2026-09-26T06:12:40Z`. */
const isoText = (epochSeconds: number): string => utcText(epochSeconds).replace(' ', 'T').replace(' UTC', 'Z');

/** The counts of one placement in words, behind its name: since when, how many, who is inside, how fast. */
function clientCountsText(sight: ClientCounts['sight']): string {
  if (sight.kind === 'unknown') return `not known: ${escapeText(sight.detail) || reasonWords[sight.reason]}`;
  const { counts, running, waiting, quietMs, closed } = sight.value;
  const { requests, failed, refused, sinceEpochSeconds: since } = counts;
  const [tokensPerSecond, firstTokenMs] = [speedOf(sight.value), firstTokenOf(sight.value)];
  const parts = [
    `${requests} answered${since === undefined ? '' : ` since ${utcText(since)}`}`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(refused === 0 ? [] : [`${refused} turned away`]),
    `${running + waiting} inside${waiting === 0 ? '' : ` (${waiting} waiting)`}`,
    ...(quietMs === undefined ? [] : [`quiet for ${durationText(quietMs)}`]),
    ...(tokensPerSecond === undefined ? [] : [`${tokensPerSecond} tokens/s`]),
    ...(firstTokenMs === undefined ? [] : [`first token ${durationText(firstTokenMs)}`]),
    ...(closed === undefined ? [] : [`closed: ${escapeText(closed)}`]),
  ];
  return parts.join(', ');
}

/** What came through the doors of published placements, a paragraph for each. */
export const clientLines = (all: readonly ClientCounts[], { columns }: Page): readonly string[] =>
  all.flatMap(({ placement, sight }) => hang(`  clients of ${placement}: `, clientCountsText(sight), columns));
