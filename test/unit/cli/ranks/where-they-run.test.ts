import { describe, expect, it } from 'vitest';
import { findFallbacks } from '../../../../src/cli/ranks/where-they-run.ts';
import { type MeshRack, observeMesh } from '../../../rack/placements.ts';
import { fleetWithFallback, nodes, onItsNodes, onTheFallback } from '../../../rack/plans.ts';

/** Returns the result, and the nodes of each observation. */
async function found(ranks: MeshRack['ranks'], unreachable: readonly string[] = []) {
  const of = fleetWithFallback();
  const all = observeMesh(of, { ranks, unreachable }).nodes;
  const observed: (readonly string[])[] = [];
  const { there, unseen } = await findFallbacks(
    of,
    () => true,
    async (names) => {
      observed.push(names);
      return Object.fromEntries(Object.entries(all).filter(([name]) => names.some((one) => one === name)));
    },
  );
  return { there, unseen: unseen.map((one) => one.nodes), observed };
}

const there = nodes(4, 1);

describe('the running layout', () => {
  it("is found by observing only the fallback's nodes", async () => {
    const seen = { unseen: [], observed: [there] };
    const onFallback = onTheFallback(fleetWithFallback());
    expect(await found(onFallback, ['studio-3'])).toEqual({ there: ['kimi'], ...seen });
    expect(await found(onItsNodes)).toEqual({ there: [], ...seen });
    expect(await found({})).toEqual({ there: [], ...seen });
  });

  it('is found by observing all nodes if the fallback was started but is incomplete', async () => {
    const observed = [there, nodes(2, 3)];
    const stopped = onTheFallback(fleetWithFallback(), 'stopped');
    expect(await found(stopped)).toEqual({ there: ['kimi'], unseen: [], observed });
    const left = stopped['studio-4'] ?? [];
    expect(await found({ ...onItsNodes, 'studio-1': [], 'studio-4': left })).toMatchObject({ there: [], observed });
  });

  it('is unknown, and reported as such, if no fallback node was observed', async () => {
    expect(await found({}, ['studio-4', 'studio-1'])).toMatchObject({ there: [], unseen: [there] });
    expect(await found(onItsNodes, ['studio-4'])).toMatchObject({ there: [], unseen: [] });
  });
});
