import { describe, expect, it } from 'vitest';
import type { SettledCluster } from '../../../../src/cli/cluster/settle-cluster.ts';
import { settleAround } from '../../../../src/cli/look/observe-and-plan.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { settleFleet } from '../../../../src/desired/settle/settle.ts';
import { keysByDriver } from '../../../../src/drivers/registry.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { makePlan } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

function office(address: string, prefixLength: number): RackChanges {
  const en0 = { name: 'en0', isUp: true, mtuBytes: 1_500, ipv4: [{ address, prefixLength }], ipv6: [], members: [] };
  return { values: { 'studio-3': { interfaces: [en0] } } };
}

function cluster(before: ClusterLock = emptyLock('cluster.lock')): SettledCluster {
  const settled = settleFleet(desiredFleet(), before, { archives: {}, folders: {} }, '/rack', keysByDriver);
  return { ...settled, before } as unknown as SettledCluster;
}

const networksOf = ({ lock }: SettledCluster): readonly string[] =>
  Object.values(lock.links).map(({ address }) => address);

describe('the networks of new links', () => {
  const plain = cluster();
  const [first = '', second = ''] = networksOf(plain);

  it('are the first ones in the pool if no node sees them in use', () => {
    expect([first, second]).toEqual(['10.77.0.0', '10.77.0.4']);
    expect(settleAround(plain, observedFleet({}))).toBe(plain);
    expect(settleAround(plain, observedFleet(office('10.99.0.1', 24)))).toBe(plain);
    expect(settleAround(plain, observedFleet(office('10.77.0.250', 30)))).toBe(plain);
  });

  it('skip networks that a node sees in use, even in the lock additions', () => {
    const around = settleAround(plain, observedFleet(office('10.77.0.6', 29)));
    expect(networksOf(around)).toEqual(networksOf(plain).map((_, at) => `10.77.0.${8 + 4 * at}`));
    expect(around.additions[0]).toContain('10.77.0.8/30');
    expect(around.additions).toHaveLength(plain.additions.length);
    expect(Object.values(around.fleet.thunderbolt.networks).map(({ address }) => address)).toEqual(networksOf(around));
  });

  it('are not allocated if too little of the pool is left, and the plan names the conflict', () => {
    const around = settleAround(plain, observedFleet(office('10.77.0.6', 24)));
    expect([networksOf(around), around.fleet.thunderbolt.networks]).toEqual([[], {}]);
    expect(around.additions).toEqual(plain.additions.filter((line) => !line.startsWith('link ')));
    const desired = around.fleet;
    const observation = observedFleet(office('10.77.0.6', 24));
    const targets = desired.nodes.map(({ name }) => name);
    const plan = makePlan({ goal: { kind: 'converge' }, desired, observation, targets });
    const [blocker] = plan.blockers.filter(({ code }) => code === 'address/pool-overlap');
    expect(blocker?.action).toBe(
      'Renumber 10.77.0.0/24, or replace the pool 10.77.0.0/24 in the file: thunderbolt.addressing.pool.',
    );
    expect(plan.changes.filter(({ id }) => id.includes('link-address/'))).toEqual([]);
  });

  it('leave allocated networks unchanged if too little of the pool is left', () => {
    const [kept = ''] = Object.keys(plain.lock.links);
    const network = plain.lock.links[kept];
    const given = cluster({ ...emptyLock('cluster.lock'), links: network === undefined ? {} : { [kept]: network } });
    const around = settleAround(given, observedFleet(office('10.77.0.6', 24)));
    expect(Object.keys(around.lock.links)).toEqual([kept]);
    expect(Object.keys(around.fleet.thunderbolt.networks)).toHaveLength(1);
  });

  it("are neither allocated nor locked while one end's networks are unknown", () => {
    for (const unseen of ['hardware-ports', 'interfaces', 'routes'] as const) {
      const around = settleAround(plain, observedFleet({ unknown: { 'studio-3': { [unseen]: 'failed' } } }));
      const waiting = Object.keys(plain.lock.links).filter((name) => name.includes('studio-3:'));
      expect(waiting).toHaveLength(3);
      expect(Object.keys(plain.lock.links).filter((name) => !Object.hasOwn(around.lock.links, name))).toEqual(waiting);
      expect(around.additions).toHaveLength(plain.additions.length - 3);
      expect(Object.values(around.fleet.thunderbolt.waiting ?? {})).toEqual(waiting.map(() => ['studio-3']));
      expect(Object.keys(around.fleet.thunderbolt.networks)).toHaveLength(plain.additions.length - 3);
      // Allocated networks stay unchanged.
      const given = cluster(plain.lock);
      expect(settleAround(given, observedFleet({ unknown: { 'studio-3': { [unseen]: 'failed' } } }))).toBe(given);
    }
  });

  it('never replace allocated networks', () => {
    const given = cluster(plain.lock);
    expect(settleAround(given, observedFleet(office('10.77.0.6', 29)))).toBe(given);
  });
});

onOnePage('settle-around');
