import type { BenchLevel } from '../../model/bench.ts';

/** One answer, with its times on one clock. */
export interface BenchAnswer {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly tokens: number;
  readonly firstTokenMs?: number;
  readonly promptSpeed?: number;
  readonly generationSpeed?: number;
}

/** Requests that were sent at the same time; `undefined` stands for one that came to nothing. */
export type BenchRound = readonly (BenchAnswer | undefined)[];

/** The middle of some numbers, or the mean of the two in the middle; undefined of none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** What rounds of equally many requests come to. `watts` is what all Macs took together meanwhile. */
export function benchLevel(requests: number, rounds: readonly BenchRound[], watts: number | undefined): BenchLevel {
  const all = rounds.flat();
  const answers = all.flatMap((one) => one ?? []);
  const middle = (key: 'firstTokenMs' | 'promptSpeed' | 'generationSpeed'): number | undefined =>
    median(answers.flatMap((one) => one[key] ?? []));
  // A round of which a part failed had the mesh to fewer requests than it says.
  const totalSpeed = median(rounds.flatMap((round) => totalOf(round) ?? []));
  return {
    requests,
    answered: answers.length,
    failed: all.length - answers.length,
    firstTokenMs: middle('firstTokenMs'),
    promptSpeed: middle('promptSpeed'),
    generationSpeed: middle('generationSpeed'),
    totalSpeed,
    watts,
    tokensPerJoule: totalSpeed === undefined || !watts ? undefined : totalSpeed / watts,
  };
}

function totalOf(round: BenchRound): number | undefined {
  const answers = round.flatMap((one) => one ?? []);
  if (answers.length === 0 || answers.length < round.length) return undefined;
  const ms = Math.max(...answers.map((one) => one.endedAtMs)) - Math.min(...answers.map((one) => one.startedAtMs));
  const tokens = answers.reduce((sum, one) => sum + one.tokens, 0);
  return ms > 0 ? (tokens * 1_000) / ms : undefined;
}
