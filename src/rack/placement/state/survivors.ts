import { nameInFile } from '../../../desired/replicas.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import { known } from '../../../model/known.ts';
import { type Addressed, addressed, placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { compared } from '../../compare-values.ts';
import { restartedNodes, returningPlacements } from '../../goal.ts';
import type { Property, View } from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { isRunning, type SeenOnNode, seenRanks } from '../mesh/rank-states.ts';
import { awayNodes } from './layouts.ts';
import { everyCase, meshChange, type PlacementCase } from './placement-cases.ts';

/**
 * Placements with running ranks and an unobserved rank. They cannot be started again until that Mac is back, and no
 * other finding explains how to stop the remaining ranks. A placement that returns a token is fine.
 */
export const lostRanks = (view: View): readonly Diagnostic[] =>
  everyCase(view).flatMap((one) => {
    const { placement, mesh, elsewhere } = one;
    const isLeft = isLeftRunning(one, view);
    const isWanted = placement.state === 'serving' && voiceOf(one) !== 'answers';
    if (mesh.state !== 'unknown' || elsewhere !== undefined || !(isWanted || isLeft)) return [];
    const away = awayNodes(placement.nodes, view.observation);
    const running = seenRanks(mesh.ranks).flatMap(({ node, seen }) => (isRunning(seen) ? [node] : []));
    const isNear = placement.nodes.some((node) => view.asked.includes(node));
    if (away.length === 0 || running.length === 0 || !isNear) return [];
    const { name } = placement;
    const gone = away.join(', ');
    const stays = isLeft ? ' They keep running, because they could not be started again.' : '';
    const why = `${name} cannot be started again until ${gone} is back. To stop the remaining ranks`;
    return [
      diagnose('mesh/lost-rank', {
        subject: placementSubject(name),
        detail: `Could not observe ${gone}. The ranks on ${running.join(', ')} still run, and ${answerWords[voiceOf(one)]}.${stays}`,
        hint: withCommands(why, [meshwright('stop', name)]),
      }),
    ];
  });

const answerWords = {
  answers: 'the placement returned a token',
  silent: 'the placement returns no token',
  unseen: 'whether the placement answers is unknown',
};

/** The address of one node's rank, used while other ranks are unobserved. */
export const survivorAddress = (placement: string): Addressed =>
  addressed({ kind: 'placement', placement, part: 'rank' });

/** The leader's answer to the request for a token; `unseen` if it was not observed or not asked. */
export function voiceOf({ leader, mesh: { ranks } }: PlacementCase): keyof typeof answerWords {
  const seen = seenRanks(ranks);
  const first = seen.find((one) => one.seen.record?.rank === 0) ?? seen.find(({ node }) => node === leader);
  if (first === undefined) return 'unseen';
  const { record } = first.seen;
  if (record?.token.kind === 'answered') return 'answers';
  return isRunning(first.seen) && record?.token.kind !== 'silent' ? 'unseen' : 'silent';
}

/**
 * True if a stop leaves the observed ranks running: the placement is to start again, which is impossible while a rank
 * is away, and it answers or may answer. A restart of one of its Macs stops it anyway.
 */
function isLeftRunning(one: PlacementCase, { goal }: View): boolean {
  const { placement } = one;
  if (meshChange(one) !== 'stop-observed' || !returningPlacements(goal).includes(placement.name)) return false;
  return !placement.nodes.some((node) => restartedNodes(goal).includes(node)) && voiceOf(one) !== 'silent';
}

/** The observed ranks, orphaned ones included, of a placement that is to be stopped and has an unobserved rank. */
export function survivorsOf(one: PlacementCase, view: View): readonly SeenOnNode[] {
  const { mesh, orphanedRanks } = one;
  if (meshChange(one) !== 'stop-observed' || isLeftRunning(one, view)) return [];
  const seen = [...seenRanks(mesh.ranks), ...orphanedRanks];
  return seen.filter(({ node }) => view.targets.some(({ desired }) => desired.name === node));
}

/**
 * One property per node for a placement that is to be stopped and has an unobserved rank: the other ranks stop in any
 * case, and the placement as a whole waits for that rank.
 * @param after kinds whose steps come first on a node
 */
export const survivorProperties = (
  one: PlacementCase,
  view: View,
  after: readonly ResourceKind[],
): readonly Property[] =>
  survivorsOf(one, view).map(({ node, seen }) => ({
    node,
    ...survivorAddress(one.placement.name),
    ...compared('stopped', known(seen.mayRun ? 'running' : 'stopped'), (state) =>
      state === 'running' ? 'its rank runs' : state,
    ),
    reason: `placements.${nameInFile(one.placement)}.state: stopped`,
    after,
  }));
