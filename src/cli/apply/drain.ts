import { leadersOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { doorNodes } from '../../rack/endpoint/door-nodes.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { drainLines } from '../../report/run/drain-text.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { amongApplied, namedPlacements } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import type { Run, VerbBody } from '../verb.ts';
import { actOn } from './act-on.ts';
import { shippedPlaybook } from './shipped-playbooks.ts';

/** Longer than this nobody waits for one look, however long those inside may take. */
const longestLookMs = 30_000;

/** `drain PLACEMENT…|--all`: lets nobody in any more and waits for those inside; the mesh goes on. */
export const drain: VerbBody = async (run) => {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const wanted = publishedOf(run, namedPlacements(run, await amongApplied(run, cluster)));
  const placements = wanted.map(({ name }) => name);
  // An earlier file may have left a door on any of them.
  const targets = fleet.nodes.map(({ name }) => name);
  const leaders = wanted.flatMap(leadersOf);
  const { deadline } = run.options;
  const looking: Run = { ...run, options: { ...run.options, deadline: Math.min(deadline, longestLookMs) } };
  const ways = openWays(looking, cluster.opened);
  const action = {
    verb: 'drain',
    playbook: within(shippedPlaybook('drain'), deadline),
    scope: { desired: fleet, targets, placements },
    named: ['interrupt' as const],
    judged: targets.filter((name) => leaders.includes(name)),
    judgedAt: (seen: FleetObservation) => doorNodes({ fleet, seen }, placements),
    goal: { kind: 'drain' as const, placements, waitMs: deadline },
    lastWords: (seen: FleetObservation) =>
      wanted.flatMap((placement) => drainLines(placement, { fleet, seen, waitMs: deadline })),
  };
  return actOn(looking, action, { cluster, ways });
};

/** The playbook of this package with the time that the command line gives. */
const within = ({ plays, ...playbook }: Playbook, deadlineMs: number): Playbook => ({
  ...playbook,
  plays: plays.map((play) => ({
    ...play,
    tasks: play.tasks.map((task) => (task.kind === 'drain' ? { ...task, deadlineMs } : task)),
  })),
});

/**
 * Those before which a doorman stands; with `--all` the others are passed over.
 * @throws FleetError `endpoint/nothing-to-close` for one that was named and has none, or when none is left
 */
function publishedOf({ own }: Run, named: readonly DesiredPlacement[]): readonly DesiredPlacement[] {
  const published = named.filter(({ publication }) => publication !== undefined);
  const others = named.filter(({ publication }) => publication === undefined);
  if (published.length > 0 && (own['all'] === true || others.length === 0)) return published;
  const [first, ...more] = others.map(({ name }) =>
    diagnose('endpoint/nothing-to-close', {
      subject: placementSubject(name),
      detail: `${name} answers its own node alone, without a doorman.`,
      hint: prose`Stop it, which ends what is inside: ${meshwright('stop', name)}. A doorman comes with \`listen: lan\`.`,
    }),
  );
  if (first === undefined) throw new Error('no placement was named');
  throw new FleetError([first, ...more]);
}
