import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent, RunListener } from '../../src/apply/run-events.ts';
import type { RunTiming } from '../../src/apply/run-timing.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { quickTiming } from './apply-rack.ts';

/** Timing for a failing start: its deadlines and a dialogue's waits are ten times as short. */
export const hurried: RunTiming = { ...quickTiming, scale: 1 / 10, talkScale: 1 / 10 };

/** An event that a test causes during a start. */
export interface Happening {
  readonly listen: RunListener;
  /** True if the start reached that step. */
  readonly hasHappened: () => boolean;
}

/**
 * Causes one event just before a step of the start of `chat`. Steps that clean up after a failure do not count.
 *
 * @param node the step's node; by default any node
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

/** The diagnostics about a start's ranks: the first failed rank with its output, or that no rank gave a reason. */
export const toldOfRanks = (
  report: RunReport | undefined,
): readonly { readonly code: string; readonly detail: string }[] =>
  (report?.steps ?? [])
    .flatMap(({ diagnostics }) => diagnostics)
    .filter(({ code }) => code === 'mesh/first-failing-rank' || code === 'mesh/no-failing-rank')
    .map(({ code, detail }) => ({ code, detail: plainText(detail) }));
