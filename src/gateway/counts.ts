import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { jsonObject } from '../model/digest.ts';
import type { GatewayCounts } from '../model/gateway.ts';

/** The counts for each placement of a gateway, by placement name. */
export type AllCounts = ReadonlyMap<string, GatewayCounts>;

/** Zeroed counts, starting at this time. */
export const countsFrom = (sinceEpochSeconds: number): GatewayCounts => ({
  sinceEpochSeconds,
  requests: 0,
  failed: 0,
  refused: 0,
  tokens: 0,
  firstToken: { count: 0, totalMs: 0, lastMs: 0 },
  generating: { tokens: 0, totalMs: 0, lastPerSecond: 0 },
});

/** The number of tokens in one complete response, and how long it took. */
export interface AnswerTimes {
  readonly tokens: number;
  /** For a stream: the time from the request's arrival to the first text. */
  readonly firstTokenMs?: number;
  /** For a stream: the time from the first text to the end. */
  readonly generatingMs?: number;
}

/** In a shorter stream, the few tokens arrive all at once, so they say nothing about the speed. */
const leastTimedMs = 100;

export function withAnswer(counts: GatewayCounts, { tokens, firstTokenMs, generatingMs }: AnswerTimes): GatewayCounts {
  const { firstToken, generating } = counts;
  // The clock starts when the first token arrives, so that token is not counted.
  const later = Math.max(0, tokens - 1);
  const isTimed = generatingMs !== undefined && generatingMs >= leastTimedMs && later > 0;
  return {
    ...counts,
    requests: counts.requests + 1,
    tokens: counts.tokens + tokens,
    firstToken:
      firstTokenMs === undefined
        ? firstToken
        : { count: firstToken.count + 1, totalMs: firstToken.totalMs + firstTokenMs, lastMs: firstTokenMs },
    generating: isTimed
      ? {
          tokens: generating.tokens + later,
          totalMs: generating.totalMs + generatingMs,
          lastPerSecond: (later * 1_000) / generatingMs,
        }
      : generating,
  };
}

/** The counts from the gateway's earlier runs; empty if their file is missing or damaged. */
export function readCounts(path: string): AllCounts {
  try {
    const document: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return new Map(Object.entries(jsonObject(document) ?? {}).map(([name, value]) => [name, countsOf(value)]));
  } catch {
    return new Map();
  }
}

const numberAt = (value: unknown, name: string): number => {
  const found = jsonObject(value)?.[name];
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? found : 0;
};

function countsOf(value: unknown): GatewayCounts {
  const { firstToken, generating } = jsonObject(value) ?? {};
  const since = numberAt(value, 'sinceEpochSeconds');
  return {
    ...(since === 0 ? {} : { sinceEpochSeconds: since }),
    requests: numberAt(value, 'requests'),
    failed: numberAt(value, 'failed'),
    refused: numberAt(value, 'refused'),
    tokens: numberAt(value, 'tokens'),
    firstToken: {
      count: numberAt(firstToken, 'count'),
      totalMs: numberAt(firstToken, 'totalMs'),
      lastMs: numberAt(firstToken, 'lastMs'),
    },
    generating: {
      tokens: numberAt(generating, 'tokens'),
      totalMs: numberAt(generating, 'totalMs'),
      lastPerSecond: numberAt(generating, 'lastPerSecond'),
    },
  };
}

/** Saves the counts for the next run. A reader sees either the old file or the complete new one. */
export async function writeCounts(path: string, counts: AllCounts): Promise<void> {
  const made = `${path}.new`;
  await writeFile(made, `${JSON.stringify(Object.fromEntries(counts))}\n`);
  await rename(made, path);
}
