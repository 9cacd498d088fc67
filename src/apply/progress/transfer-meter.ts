import { type TransferSource, transferOf } from '../../engine/plan/transfers.ts';
import type { Step, StepProgress } from '../../model/step.ts';

export type TransferMeter = NonNullable<ReturnType<typeof meterFor>>;

/** A shorter transfer says little about the next one. */
const leastMs = 10_000;

/** Measures a step's transfer from its progress. Undefined for a step that gets no bytes over a connection. */
export function meterFor(step: Step) {
  const { from = 'node' } = transferOf(step) ?? {};
  if (from === 'node' || from === 'staged') return undefined;
  let last: { readonly arrived: number; readonly atMs: number } | undefined;
  let [bytes, ms, presentBytes] = [0, 0, 0];
  return {
    add: (progress: StepProgress, atMs: number): void => {
      const { doneBytes, keptBytes = presentBytes } = progress;
      presentBytes = keptBytes;
      if (doneBytes === undefined || !isArriving(from, progress)) {
        last = undefined;
        return;
      }
      const arrived = doneBytes - presentBytes;
      // A pause counts once bytes arrive again, so the comparison after the last byte does not count.
      if (last !== undefined && arrived <= last.arrived) return;
      if (last !== undefined) [bytes, ms] = [bytes + arrived - last.arrived, ms + atMs - last.atMs];
      last = { arrived, atMs };
    },
    /** The bytes that arrived during the step, and the time in which they did. */
    measured: () => (ms < leastMs ? undefined : { from, bytes, ms: Math.round(ms) }),
  };
}

/** False while a download waits for its hours, and for bytes from elsewhere: a node without sources downloads. */
const isArriving = (from: TransferSource, { activity, until, sources }: StepProgress): boolean =>
  from === 'controller' ||
  (activity === 'receiving' && until === undefined && (from === 'uplink' || from === 'lan' || sources !== undefined));
