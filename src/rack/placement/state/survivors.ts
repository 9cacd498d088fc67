import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import { known } from '../../../model/known.ts';
import { type Addressed, addressed, placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import type { Property, View } from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { isRunning, type SeenOnNode, seenMembers } from '../members.ts';
import { awayNodes } from './layouts.ts';
import { everyCase, type PlacementCase } from './placement-cases.ts';

/**
 * Placements that have ranks on nodes of this run, while a member of them was asked for and not seen: nothing starts
 * them again until that is back, and nobody else says how the rest is stopped. What gives a token is as it should be.
 */
export const lostMembers = (view: View): readonly Diagnostic[] =>
  everyCase(view).flatMap((one) => {
    const { placement, mesh, elsewhere } = one;
    const isLeft = isLeftRunning(one, view);
    const isWanted = placement.state === 'serving' && voiceOf(one) !== 'answers';
    if (mesh.state !== 'unknown' || elsewhere !== undefined || !(isWanted || isLeft)) return [];
    const away = awayNodes(placement.nodes, view.observation);
    const running = seenMembers(mesh.members).flatMap(({ node, seen }) => (isRunning(seen) ? [node] : []));
    const isNear = placement.nodes.some((node) => view.asked.includes(node));
    if (away.length === 0 || running.length === 0 || !isNear) return [];
    const { name } = placement;
    const gone = away.join(', ');
    const kept = isLeft ? ' Nothing is stopped that could not be started again.' : '';
    const why = `It cannot be started again before ${gone} is back. To stop what runs of it`;
    return [
      diagnose('mesh/lost-member', {
        subject: placementSubject(name),
        detail: `Nobody can see ${gone}. Its ranks on ${running.join(', ')} run, and ${answerWords[voiceOf(one)]}.${kept}`,
        hint: withCommands(why, [meshwright('stop', name)]),
      }),
    ];
  });

const answerWords = {
  answers: 'it gave a token',
  silent: 'it gives no token',
  unseen: 'nobody can tell whether it answers',
};

/** The address of what one node runs of a placement, where not every member of it was seen. */
export const survivorAddress = (placement: string): Addressed =>
  addressed({ kind: 'placement', placement, part: 'rank' });

/** What the leader of a mesh answered to the request for a token; `unseen` when it was not seen or not asked. */
export function voiceOf({ leader, mesh: { members } }: PlacementCase): keyof typeof answerWords {
  const seen = seenMembers(members);
  const first = seen.find((one) => one.seen.record?.rank === 0) ?? seen.find(({ node }) => node === leader);
  if (first === undefined) return 'unseen';
  const { record } = first.seen;
  if (record?.token.kind === 'answered') return 'answers';
  return isRunning(first.seen) && record?.token.kind !== 'silent' ? 'unseen' : 'silent';
}

/**
 * Whether a stop leaves alone what was seen of a placement: it is to be started again, which nobody can while a member is
 * away, and it answers, or may answer for all that is known. Where its Mac is restarted, it ends all the same.
 */
function isLeftRunning(one: PlacementCase, { comingBack, restarting }: View): boolean {
  const { placement, mesh } = one;
  const isToStop = placement.state === 'stopped' && mesh.state === 'unknown';
  const isRestarted = placement.nodes.some((node) => restarting.includes(node));
  return isToStop && comingBack.includes(placement.name) && !isRestarted && voiceOf(one) !== 'silent';
}

/** Members and what is left over of a placement that is to be stopped and of which not every member was seen. */
export function survivorsOf(one: PlacementCase, view: View): readonly SeenOnNode[] {
  const { placement, mesh, strangers } = one;
  if (placement.state !== 'stopped' || mesh.state !== 'unknown' || isLeftRunning(one, view)) return [];
  const seen = [...seenMembers(mesh.members), ...strangers];
  return seen.filter(({ node }) => view.targets.some(({ desired }) => desired.name === node));
}

/**
 * That nothing runs of a placement that is to be stopped, on each node by itself, where a member of it was not seen: the
 * others are stopped all the same, and the placement as a whole waits for that member.
 *
 * @param after what has to be in order on a node before
 */
export const survivorProperties = (
  one: PlacementCase,
  view: View,
  after: readonly ResourceKind[],
): readonly Property[] =>
  survivorsOf(one, view).map(({ node, seen }) => ({
    node,
    ...survivorAddress(one.placement.name),
    desired: 'stopped',
    observed: known(seen.mayRun ? 'running' : 'stopped'),
    from: seen.mayRun ? 'its rank runs' : 'stopped',
    to: 'stopped',
    reason: `placements.${one.placement.name}.state: stopped`,
    after,
  }));
