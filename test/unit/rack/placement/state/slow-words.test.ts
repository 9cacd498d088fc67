import { describe, expect, it } from 'vitest';
import type { NodeObservation } from '../../../../../src/model/facts/fact-values.ts';
import { known } from '../../../../../src/model/known.ts';
import { thunderboltFact } from '../../../../../src/rack/cables/fact.ts';
import { read } from '../../../../../src/rack/fact.ts';
import { slowWords as slowWordsItself } from '../../../../../src/rack/placement/mesh/read-mesh.ts';
import { placementsFact } from '../../../../../src/rack/placement/observed/fact.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const slowWords = onPage(slowWordsItself);

const fleet = meshFleet();
const [placement] = fleet.placements;
if (placement === undefined) throw new Error('the rack has no placement');
const driver = {
  observe: ([first]: readonly string[]) => (first === 'tcp' || first === 'rdma' ? ({ transport: first } as const) : {}),
};
const observed = observeMesh(fleet, { ranks: threeRanks(['joined', 'joined', 'joined']) }).nodes;
const words = (nodes: Readonly<Record<string, NodeObservation>>, transport: 'rdma' | 'tcp' = 'rdma') =>
  slowWords({ ...placement, transport }, fleet, nodes, driver);

/** The same rack after every rank logged this line. */
const saying = (line: string): Readonly<Record<string, NodeObservation>> =>
  Object.fromEntries(
    Object.entries(observed).map(([node, one]) => {
      const placements = read(one.facts, placementsFact);
      const ranks = placements.kind === 'known' ? placements.value.map((rank) => ({ ...rank, said: [line] })) : [];
      return [node, { ...one, facts: { ...one.facts, placements: known(ranks) } }];
    }),
  );

describe("a slow mesh's possible causes", () => {
  it('include a transport that differs from the file', () => {
    expect(words(saying('tcp'))[0]).toBe('Its ranks use tcp, but the file says rdma.');
    expect(words(saying('rdma'))[0]).toBe('Its ranks use rdma.');
    expect([words(observed)[0], words(observed, 'tcp')[0]]).toEqual([
      'No log shows whether its ranks use rdma.',
      undefined,
    ]);
  });

  it("include a slow cable between two of the mesh's nodes", () => {
    const slow = Object.fromEntries(
      Object.entries(observed).map(([node, one]) => {
        const thunderbolt = read(one.facts, thunderboltFact);
        const value = thunderbolt.kind === 'known' ? thunderbolt.value : [];
        const cables = value.map((cable) => ({ ...cable, linkBitsPerSecond: 40_000_000_000 }));
        return [node, { ...one, facts: { ...one.facts, thunderbolt: known(cables) } }];
      }),
    );
    expect(words(slow).slice(1)).toContain('The cable at studio-1:2 runs at 40 Gb/s.');
  });
});

onOnePage('slow-words');
