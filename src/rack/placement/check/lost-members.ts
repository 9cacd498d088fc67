import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { NodeName } from '../../../model/node.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import type { View } from '../../resource.ts';
import { isRunning } from '../members/member.ts';
import { awayNodes } from '../state/layouts.ts';
import { everyCase, type PlacementCase } from '../state/placement-cases.ts';
import { isLeftRunning, voiceOf } from '../state/survivors.ts';
import { seenMembers } from '../stop/stop-mesh.ts';

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
    return away.length === 0 || running.length === 0 || !isNear ? [] : [lostMember(one, { away, running, isLeft })];
  });

interface Loss {
  readonly away: readonly NodeName[];
  readonly running: readonly NodeName[];
  readonly isLeft: boolean;
}

function lostMember(one: PlacementCase, { away, running, isLeft }: Loss): Diagnostic {
  const { name } = one.placement;
  const kept = isLeft ? ' Nothing is stopped that could not be started again.' : '';
  return diagnose('mesh/lost-member', {
    subject: placementSubject(name),
    detail: `Nobody can see ${away.join(', ')}. Its ranks on ${running.join(', ')} run, and ${answerWords(one)}.${kept}`,
    hint: withCommands(`It cannot be started again before ${away.join(', ')} is back. To stop what runs of it`, [
      meshwright('stop', name),
    ]),
  });
}

function answerWords(one: PlacementCase): string {
  switch (voiceOf(one)) {
    case 'answers':
      return 'it gave a token';
    case 'silent':
      return 'it gives no token';
    case 'unseen':
      return 'nobody can tell whether it answers';
  }
}
