import { describe, expect, it } from 'vitest';
import { planSeen, type UninstallCall, uninstallationOf } from '../../../../src/cli/apply/uninstall.ts';
import { type MeshRack, observeMesh } from '../../../rack/placements.ts';
import { fleetWithFallback, nodes, onItsNodes, onTheFallback } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';

/** The plan of an uninstallation from some nodes. */
function uninstalled(gone: readonly number[], ranks: MeshRack['ranks'], of = fleetWithFallback()) {
  const call = { cluster: { fleet: of }, ways: {}, nodes: nodes(...gone), toSee: of.nodes } as unknown as UninstallCall;
  const values = of.nodes.map(({ name }) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, facts];
  });
  const observation = observeMesh(of, { ranks, values: Object.fromEntries(values) });
  const about = uninstallationOf({ own: {} }, call, observation);
  const { plan } = planSeen(about, observation);
  return {
    targets: about.targets,
    stopped: about.goal.placements,
    steps: plan.steps.map(({ id }) => id).filter((id) => /\/kimi\/(?:stop|remove)$/.test(id)),
    effects: plan.effects.filter(({ kind }) => kind === 'interrupt').length,
    ids: plan.steps.map(({ id }) => `${id}`),
  };
}

const stops = ['studio-4/placement/kimi/stop', 'studio-1/placement/kimi/stop'];

describe('an uninstallation while a placement runs on its fallback', () => {
  it('first stops the placement on all its nodes if it runs on an affected node', () => {
    for (const [gone, other] of [
      [4, 1],
      [1, 4],
    ] as const) {
      const { targets, stopped, steps, effects, ids } = uninstalled([gone], onTheFallback(fleetWithFallback()));
      expect([targets, stopped, effects]).toEqual([nodes(1, 4), ['kimi'], 1]);
      expect(steps).toEqual(expect.arrayContaining([...stops, `studio-${gone}/placement/kimi/remove`]));
      expect(steps).not.toContain(`studio-${other}/placement/kimi/remove`);
      const at = ids.indexOf(`studio-${gone}/link-address/gate`);
      expect(at).toBeGreaterThan(Math.max(...stops.map((id) => ids.indexOf(id))));
    }
  });

  it('leaves the placement running if it runs on other nodes, and removes leftovers', () => {
    const none = uninstalled([3], onTheFallback(fleetWithFallback()));
    expect([none.targets, none.stopped, none.steps, none.effects]).toEqual([nodes(3), [], [], 0]);
    const left = { ...onTheFallback(fleetWithFallback()), 'studio-3': [{ state: 'stopped', rank: 2 } as const] };
    expect(uninstalled([3], left).steps).toEqual(['studio-3/placement/kimi/remove']);
  });
});

describe('an uninstallation of a node that only a fallback uses', () => {
  it('leaves the placement running on its own nodes, and removes leftovers', () => {
    const [digest] = (onTheFallback(fleetWithFallback())['studio-4'] ?? []).map((one) => one.digest ?? '');
    const rank = { state: 'stopped', rank: 0, generation: 3, digest: digest ?? '' } as const;
    const left = { ...onItsNodes, 'studio-4': [rank] };
    const { targets, stopped, steps, effects } = uninstalled([4], left);
    expect([targets, stopped, effects]).toEqual([nodes(4), [], 0]);
    expect(steps).toEqual(['studio-4/placement/kimi/remove']);
  });
});
