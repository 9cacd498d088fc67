import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { placementSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { usageError } from '../verb/options.ts';

/** How a placement is to be measured. */
export interface BenchWish {
  readonly requests: readonly number[];
  readonly runs: number;
  readonly maxTokens: number;
  readonly words: number;
}

/** What is measured, as far as it bounds a measurement. */
export interface BenchSubject {
  readonly placement: Pick<DesiredPlacement, 'name' | 'contextTokens' | 'parallel'>;
  readonly driver: DesiredRuntime['driver'];
}

const usual = { requests: [1, 2, 4], runs: 3, maxTokens: 128, words: 400 } as const;
/** Of the words of a question, on average; a tokenizer that makes more of them knows no English. */
const tokensPerWord = 2;
/** What stands around the words: the sentences of the question, and the template of a chat. */
const frameTokens = 96;

/**
 * What was typed, and where nothing was typed what the memory of the placement was made for: not more requests at once
 * than it answers at once, and not more tokens than its context.
 * @throws FleetError `cli/usage` when the question and the answer that were typed do not fit in the context
 */
export function benchWish(typed: Partial<BenchWish>, { placement, driver }: BenchSubject): BenchWish {
  const { name, contextTokens, parallel } = placement;
  const most = hasParallel(driver) ? parallel : Number.POSITIVE_INFINITY;
  const requests = typed.requests ?? usual.requests.filter((count) => count <= most);
  const maxTokens = typed.maxTokens ?? Math.max(1, Math.min(usual.maxTokens, Math.floor(contextTokens / 4)));
  const room = Math.floor((contextTokens - maxTokens - frameTokens) / tokensPerWord);
  const words = typed.words ?? Math.max(1, Math.min(usual.words, room));
  if (words > room) {
    throw usageError(
      `${words} words and an answer of ${maxTokens} tokens do not fit in the context of ${name}, ${contextTokens} tokens.`,
      room < 1 ? 'Say fewer --max-tokens.' : `With this answer at most: --words ${room}`,
    );
  }
  return { requests, runs: typed.runs ?? usual.runs, maxTokens, words };
}

/** What whoever typed more requests at once than the placement answers at once should know. */
export function beyondParallel({ requests }: BenchWish, { placement, driver }: BenchSubject): readonly Diagnostic[] {
  const { name, parallel } = placement;
  const beyond = requests.filter((count) => count > parallel);
  if (!hasParallel(driver) || beyond.length === 0) return [];
  return [
    diagnose('bench/beyond-parallel', {
      subject: placementSubject(name),
      detail: prose`${named(name)} answers ${parallel} at once (parallel: ${parallel}), and was asked ${beyond.join(' and ')} at once.`,
    }),
  ];
}

const hasParallel = (driver: BenchSubject['driver']): boolean =>
  driverOf({ driver }).keys.ofPlacements.includes('parallel');
