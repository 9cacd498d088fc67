import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';
import { rankPorts } from '../../rank-port.ts';
import { sharedNode } from '../../shared-node.ts';

/** No endpoint has a port on which the ranks of a placement meet on one of its nodes, its own ranks included. */
export function endpointOfRanks({ placements }: Draft): readonly Finding[] {
  return placements.flatMap((placement) => {
    const { name, endpointPort, endpointPointer } = placement;
    if (endpointPort === undefined) return [];
    const mine = draftLayouts([placement]);
    const other = draftLayouts(placements).find((one) => {
      const { first, last } = rankPorts(one.name);
      const isAmong = endpointPort >= first && endpointPort <= last;
      return isAmong && mine.some((layout) => sharedNode(layout, one) !== undefined);
    });
    if (other === undefined) return [];
    const { first, last } = rankPorts(other.name);
    const whose = other.name === name ? 'Its own ranks' : `The ranks of ${other.name}`;
    const finding: Finding = {
      code: 'placement/endpoint-of-ranks',
      pointer: endpointPointer,
      at: 'value',
      label: `${first} to ${last} are for the ranks of ${other.name}`,
      detail: `${whose} meet on ports ${first} to ${last} of these nodes.`,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
