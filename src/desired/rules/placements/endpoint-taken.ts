import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { type DraftPlacement, draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding, FindingPlace, PlaceText } from '../../draft/finding.ts';
import { pairKey, sharedNode } from '../../shared-node.ts';
import { isSameDoor } from './published-endpoint.ts';

/** Placements that share a node have different ports for their endpoints, stopped ones too: they may be started. */
export function endpointTaken({ placements }: Draft, place: PlaceText): readonly Finding[] {
  const told = new Set<string>();
  return draftLayouts(placements).flatMap((placement, index, all) => {
    const { name, endpointPort } = placement;
    if (endpointPort === undefined) return [];
    const other = all
      .slice(0, index)
      .find(
        (one) =>
          one.name !== name &&
          !told.has(pairKey(one, placement)) &&
          one.endpointPort === endpointPort &&
          sharedNode(one, placement) !== undefined &&
          !isSameDoor(one, placement),
      );
    if (other === undefined) return [];
    told.add(pairKey(other, placement));
    const otherPlace = placeOf(other);
    const finding: Finding = {
      ...placeOf(placement),
      code: 'placement/endpoint-taken',
      label: `${other.name} has port ${endpointPort} already, ${place(otherPlace)}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}.`,
      subject: placementSubject(name),
      others: [{ ...otherPlace, detail: `The port of ${other.name}.` }],
    };
    return [finding];
  });
}

/** The port itself, or the name of a placement that leaves it to the default. */
const placeOf = ({ pointer, endpointPointer }: DraftPlacement): FindingPlace => ({
  pointer: endpointPointer,
  at: pointer === endpointPointer ? 'key' : 'value',
});
