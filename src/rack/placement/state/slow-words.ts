import type { RuntimeDriver } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeObservation } from '../../../model/facts/fact-values.ts';
import { linkEndText } from '../../../model/node.ts';
import { thunderboltFact } from '../../cables/fact.ts';
import { read } from '../../fact.ts';
import { placementsFact } from '../observed/fact.ts';
import { seenTransport } from './seen-transport.ts';

/** The speed of a cable that RDMA is made for. @see apple-platform: Thunderbolt 5 */
const fullBitsPerSecond = 80_000_000_000;

/**
 * What could make a mesh slow, of what can be seen: its ranks talk otherwise than the file says, or a cable between
 * them is slow. Full sentences; empty where nothing is to be seen.
 */
export function slowWords(
  placement: DesiredPlacement,
  { thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>,
  nodes: Readonly<Record<string, NodeObservation>>,
  driver: Pick<RuntimeDriver, 'observe'>,
): readonly string[] {
  const said = placement.nodes.flatMap((node) => {
    const placements = read(nodes[node]?.facts, placementsFact);
    return placements?.kind === 'known'
      ? placements.value.filter((member) => member.placement === placement.name).map((member) => member.said)
      : [];
  });
  const transport = seenTransport(driver, said);
  const isMember = (name: string): boolean => placement.nodes.some((node) => node === name);
  const slow = thunderbolt.links
    .filter(({ ends }) => ends.every(({ node }) => isMember(node)))
    .flatMap(({ ends }) => ends)
    .flatMap((end) => {
      const receptacles = read(nodes[end.node]?.facts, thunderboltFact);
      const seen =
        receptacles?.kind === 'known'
          ? receptacles.value.find(({ receptacle }) => receptacle === end.receptacle)?.linkBitsPerSecond
          : undefined;
      return seen !== undefined && seen < fullBitsPerSecond
        ? [`The cable at ${linkEndText(end)} runs at ${seen / 1_000_000_000} Gb/s.`]
        : [];
    });
  return [...transportWords(transport, placement.transport), ...slow];
}

function transportWords(seen: 'rdma' | 'tcp' | undefined, wanted: 'rdma' | 'tcp'): readonly string[] {
  if (seen === undefined) return wanted === 'rdma' ? ['No log says whether its ranks talk over rdma.'] : [];
  const but = seen === wanted ? '' : `, and the file says ${wanted}`;
  return [`Its ranks talk over ${seen}${but}.`];
}
