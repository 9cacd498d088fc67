import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { namedSubject } from '../../model/subject.ts';
import type { Run } from '../verb.ts';
import type { SettledCluster } from './settle-cluster.ts';

/**
 * Refuses to go on with what the lock does not have; a rehearsal needs nobody's consent.
 * @throws FleetError `lock/unresolved`
 */
export function refuseUnresolved(run: Run, { additions, lockPlace }: SettledCluster): void {
  if (additions.length === 0 || run.options.sim) return;
  throw new FleetError([
    diagnose('lock/unresolved', {
      subject: namedSubject(lockPlace.shown),
      detail: [`${lockPlace.shown} lacks:`, ...additions.map((line) => `  ${line}`)].join('\n'),
      hint: `Apply it in a terminal, or with --update-lock; then commit ${lockPlace.shown}.`,
    }),
  ]);
}
