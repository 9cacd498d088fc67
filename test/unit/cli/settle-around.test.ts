import { describe, expect, it } from 'vitest';
import { settleAround } from '../../../src/cli/settle-around.ts';
import type { SettledCluster } from '../../../src/cli/settle-cluster.ts';
import { emptyLock } from '../../../src/config/lock.ts';
import { settleFleet } from '../../../src/desired/settle.ts';
import type { ClusterLock } from '../../../src/model/cluster-lock.ts';
import type { NetworkInterface } from '../../../src/model/fact-values.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../doctor/fleet-builder.ts';

const office = (address: string, prefixLength: number): RackChanges => {
  const en0: NetworkInterface = {
    name: 'en0',
    isUp: true,
    mtuBytes: 1_500,
    ipv4: [{ address, prefixLength }],
    ipv6: [],
    members: [],
  };
  return { values: { 'studio-3': { interfaces: [en0] } } };
};

function cluster(before: ClusterLock = emptyLock('cluster.lock')): SettledCluster {
  const settled = settleFleet(desiredFleet(), before, { archives: {}, folders: {} }, '/rack');
  return { ...settled, before } as unknown as SettledCluster;
}

const networksOf = ({ lock }: SettledCluster): readonly string[] =>
  Object.values(lock.links).map(({ address }) => address);

describe('networks of links that are new', () => {
  const plain = cluster();
  const [first = '', second = ''] = networksOf(plain);

  it('are what the pool has first, where no node sees anything of it in use', () => {
    expect([first, second]).toEqual(['10.77.0.0', '10.77.0.4']);
    expect(settleAround(plain, observedFleet({}))).toBe(plain);
    expect(settleAround(plain, observedFleet(office('10.99.0.1', 24)))).toBe(plain);
    expect(settleAround(plain, observedFleet(office('10.77.0.250', 30)))).toBe(plain);
  });

  it('go around what a node sees in use, and the lines for the lock say so', () => {
    const around = settleAround(plain, observedFleet(office('10.77.0.6', 29)));
    expect(networksOf(around)).toEqual(networksOf(plain).map((_, at) => `10.77.0.${8 + 4 * at}`));
    expect(around.additions[0]).toContain('10.77.0.8/30');
    expect(around.additions).toHaveLength(plain.additions.length);
    expect(Object.values(around.fleet.thunderbolt.networks).map(({ address }) => address)).toEqual(networksOf(around));
  });

  it('stay as they are where the pool has too little left: then the plan says what is in the way', () => {
    expect(settleAround(plain, observedFleet(office('10.77.0.6', 24)))).toBe(plain);
  });

  it('wait where nobody could see what is in use at an end, and are not written down', () => {
    for (const unseen of ['hardware-ports', 'interfaces', 'routes'] as const) {
      const around = settleAround(plain, observedFleet({ unknown: { 'studio-3': { [unseen]: 'failed' } } }));
      const waiting = Object.keys(plain.lock.links).filter((name) => name.includes('studio-3:'));
      expect(waiting).toHaveLength(3);
      expect(Object.keys(plain.lock.links).filter((name) => !Object.hasOwn(around.lock.links, name))).toEqual(waiting);
      expect(around.additions).toHaveLength(plain.additions.length - 3);
      expect(Object.values(around.fleet.thunderbolt.waiting ?? {})).toEqual(waiting.map(() => ['studio-3']));
      expect(Object.keys(around.fleet.thunderbolt.networks)).toHaveLength(plain.additions.length - 3);
      // What was given out before is as it was, whoever is seen.
      const given = cluster(plain.lock);
      expect(settleAround(given, observedFleet({ unknown: { 'studio-3': { [unseen]: 'failed' } } }))).toBe(given);
    }
  });

  it('that were given out never move', () => {
    const given = cluster(plain.lock);
    expect(settleAround(given, observedFleet(office('10.77.0.6', 29)))).toBe(given);
  });
});
