import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent, RunListener } from '../../src/apply/run-events.ts';
import type { RunTiming } from '../../src/apply/run-timing.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { quickTiming } from './apply-rack.ts';

/** For a start that is given up: its deadlines, and what a dialogue waits for, in a tenth of their time. */
export const hurried: RunTiming = { ...quickTiming, scale: 1 / 10, talkScale: 1 / 10 };

/** Something that a test lets happen in the middle of a start. */
export interface Happening {
  readonly listen: RunListener;
  /** Whether the start has come to that step. */
  readonly hasHappened: () => boolean;
}

/**
 * Lets something happen once, just before a step of the start of `chat` begins; steps that clean up after a failure are
 * none of a start.
 *
 * @param node of the step; on any when it is not given
 */
export function justBefore(step: string, happen: () => void, node?: string): Happening {
  let hasHappened = false;
  const listen = (event: RunEvent): void => {
    if (event.kind !== 'step-started' || hasHappened || event.rescues !== undefined) return;
    const { id } = event.step;
    if (!id.endsWith(`/placement/chat/${step}`) || !(node === undefined || event.step.node === node)) return;
    hasHappened = true;
    happen();
  };
  return { listen, hasHappened: () => hasHappened };
}

/** What a start has told of its ranks: the one that failed first, with what it said, or that none says why. */
export const toldOfRanks = (
  report: RunReport | undefined,
): readonly { readonly code: string; readonly detail: string }[] =>
  (report?.steps ?? [])
    .flatMap(({ diagnostics }) => diagnostics)
    .filter(({ code }) => code === 'mesh/first-failing-rank' || code === 'mesh/no-failing-rank')
    .map(({ code, detail }) => ({ code, detail: plainText(detail) }));
