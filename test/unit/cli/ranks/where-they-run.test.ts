import { describe, expect, it } from 'vitest';
import { findFallbacks } from '../../../../src/cli/ranks/where-they-run.ts';
import { type MeshRack, observeMesh } from '../../../rack/placements.ts';
import { fleetWithFallback, nodes, onItsNodes, onTheFallback } from '../../../rack/plans.ts';

/** What is found, and which nodes are looked at one after the other. */
async function found(members: MeshRack['members'], unreachable: readonly string[] = []) {
  const of = fleetWithFallback();
  const all = observeMesh(of, { members, unreachable }).nodes;
  const looks: (readonly string[])[] = [];
  const { there, unseen } = await findFallbacks(
    of,
    () => true,
    async (names) => {
      looks.push(names);
      return Object.fromEntries(Object.entries(all).filter(([name]) => names.some((one) => one === name)));
    },
  );
  return { there, unseen: unseen.map((one) => one.nodes), looks };
}

const there = nodes(4, 1);

describe('the layout that a question goes to', () => {
  it('is told by the nodes of the fallback alone, so that nobody waits for one that is away', async () => {
    expect(await found(onTheFallback(fleetWithFallback()), ['studio-3'])).toEqual({
      there: ['kimi'],
      unseen: [],
      looks: [there],
    });
    expect(await found(onItsNodes)).toEqual({ there: [], unseen: [], looks: [there] });
    expect(await found({})).toEqual({ there: [], unseen: [], looks: [there] });
  });

  it('is told by all nodes where the fallback was started and does not run as a whole', async () => {
    const looks = [there, nodes(2, 3)];
    expect(await found(onTheFallback(fleetWithFallback(), 'stopped'))).toEqual({ there: ['kimi'], unseen: [], looks });
    const left = onTheFallback(fleetWithFallback(), 'stopped')['studio-4'] ?? [];
    expect(await found({ ...onItsNodes, 'studio-1': [], 'studio-4': left })).toMatchObject({ there: [], looks });
  });

  it('is not known where none of its nodes was seen, which is said', async () => {
    expect(await found({}, ['studio-4', 'studio-1'])).toMatchObject({ there: [], unseen: [there] });
    expect(await found(onItsNodes, ['studio-4'])).toMatchObject({ there: [], unseen: [] });
  });
});
