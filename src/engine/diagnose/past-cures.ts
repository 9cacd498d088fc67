import type { JournalCure } from '../../model/files.generated.ts';

export interface PastCure extends Pick<JournalCure, 'rung' | 'names' | 'placements'> {
  /** Absent if the run was killed during the cure: whether it worked is unknown. */
  readonly isDone?: boolean;
  readonly ms?: number;
  /** False if it only waited, or if nothing was left to do, as after another run's cure; absent in older journals. */
  readonly hasChanged?: boolean;
}

/** One run of `recover` that began at least one cure. */
export interface Incident {
  readonly runId: string;
  readonly startedAtMs: number;
  readonly cures: readonly PastCure[];
  /** True if every placement returned a token at the end; absent if the run was killed or is still running. */
  readonly isServing?: boolean;
}

/** How often a placement was brought back in the last seven days. */
export interface Recoveries {
  readonly placement: string;
  readonly times: number;
  readonly last: { readonly atMs: number; readonly cure: PastCure };
}

const weekMs = 7 * 24 * 3_600_000;

/** @param incidents newest first */
export function recoveriesIn(incidents: readonly Incident[], placement: string, nowMs: number): Recoveries | undefined {
  const healed = incidents.flatMap(({ isServing, startedAtMs, cures }) => {
    const own = cures.filter(({ placements, hasChanged }) => placements.includes(placement) && hasChanged !== false);
    const cure = own.findLast(({ isDone }) => isDone === true);
    const isRecent = nowMs - startedAtMs < weekMs;
    return isServing === true && isRecent && cure !== undefined ? [{ atMs: startedAtMs, cure }] : [];
  });
  const [last] = healed;
  return last && { placement, times: healed.length, last };
}

/** How long the same cure took the last time that it worked, in ms. @param incidents newest first */
export const lastDuration = (
  incidents: readonly Incident[],
  { rung, names }: Pick<PastCure, 'rung' | 'names'>,
): number | undefined =>
  incidents
    .flatMap(({ cures }) => cures.toReversed())
    .find((one) => one.isDone === true && one.rung === rung && one.names.join(' ') === names.join(' '))?.ms;
