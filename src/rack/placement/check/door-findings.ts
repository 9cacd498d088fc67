import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { ObservedTarget, View } from '../../resource.ts';
import { doorSight } from '../doors/door-sight.ts';
import { isClosed } from '../doors/door-sights.ts';
import { type PlacementCase, placementCases } from '../state/placement-cases.ts';

/** Placements that serve and whose door is closed, as a drain leaves it: nobody new gets in until somebody opens it. */
export const doorFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap(({ elsewhere, ...own }) => {
    const one = elsewhere ?? own;
    const { placement, leader, mesh } = one;
    const target = view.targets.find(({ desired }) => desired.name === leader);
    if (placement.publication === undefined || placement.state !== 'serving' || mesh.state !== 'serving') return [];
    const closed = target && isClosed(target, placement.endpointPort, placement.name);
    return target === undefined || closed?.kind !== 'known' || !closed.value ? [] : [findingOf(one, target)];
  });

function findingOf(
  { placement: { name, endpointPort }, leader }: PlacementCase,
  { facts }: ObservedTarget,
): Diagnostic {
  const sight = doorSight(facts, name, endpointPort);
  const said = sight?.kind === 'known' ? sight.value : undefined;
  const reason = said?.closed === undefined ? '.' : `: ${escapeText(said.closed)}`;
  const inside = said === undefined ? '' : ` ${said.running + said.waiting} inside.`;
  return diagnose('endpoint/door-closed', {
    subject: placementSubject(name),
    detail: `It serves, and whoever comes to port ${endpointPort} of ${leader} gets 503${reason}${inside}`,
    hint: prose`When clients may come again: ${meshwright('start', name)}. The next apply opens it, too.`,
  });
}
