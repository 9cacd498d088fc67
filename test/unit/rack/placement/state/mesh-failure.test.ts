import { describe, expect, it } from 'vitest';
import { known } from '../../../../../src/model/known.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { read } from '../../../../../src/rack/fact.ts';
import { placementsFact } from '../../../../../src/rack/placement/observed/fact.ts';
import { digestOfKimi, meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { onOnePage } from '../../../one-page.ts';
import { meshFailure, readMesh } from '../recorded-mesh.ts';

const fleet = meshFleet();
const signatures = [
  {
    id: 'gid',
    pattern: /errno 22/,
    source: 'mlx 0.32',
    meaning: 'No GID.',
    action: 'apply' as const,
    cure: 'Set the addresses.',
  },
];

/** The mesh state when the rank on this node logged these lines. */
function meshWhere(node: string, said: readonly string[], state: 'exited' | 'joined') {
  const { nodes } = observeMesh(fleet, { ranks: threeRanks(['exited', state, 'exited']) });
  const logged = Object.fromEntries(
    Object.entries(nodes).map(([name, one]) => {
      const placements = read(one.facts, placementsFact);
      const ranks = placements.kind === 'known' ? placements.value : [];
      const facts = { ...one.facts, placements: known(ranks.map((rank) => ({ ...rank, said }))) };
      return [name, name === node ? { ...one, facts } : one];
    }),
  );
  const expected = { placement: 'kimi', nodes: ['studio-1', 'studio-2', 'studio-3'].map(nodeName) };
  return readMesh({ ...expected, digest: digestOfKimi(fleet) }, logged);
}

describe('a mesh failure', () => {
  it("is the failed rank's log line with its meaning and repair", () => {
    expect(meshFailure(meshWhere('studio-2', ['RTR failed with errno 22'], 'exited'), { signatures })).toEqual({
      node: 'studio-2',
      rank: 'rank 1 on studio-2 exited (1)',
      line: 'RTR failed with errno 22',
      meaning: 'No GID.',
      action: 'apply',
      cure: 'Set the addresses.',
    });
    expect(meshFailure(meshWhere('studio-2', ['errno 22'], 'joined'), { signatures })?.rank).toBe('rank 1 on studio-2');
  });

  it('is undefined when no log line matches a signature', () => {
    expect(meshFailure(meshWhere('studio-2', ['hello'], 'exited'), { signatures })).toBeUndefined();
  });
});

onOnePage('mesh-failure');
