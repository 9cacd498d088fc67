import { describe, expect, it } from 'vitest';
import type { OpenedCluster } from '../../../../src/cli/cluster/open-cluster.ts';
import { judgedFleet } from '../../../../src/cli/cluster/settle-cluster.ts';
import type { Run } from '../../../../src/cli/verb.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';

const run = { options: {}, folder: '/rack' } as unknown as Run;
const opened = (links: ClusterLock['links']): OpenedCluster => ({
  path: '/rack/cluster.yaml',
  lockPath: '/rack/cluster.lock',
  fleet: desiredFleet(),
  lock: { ...emptyLock('cluster.lock'), links },
  warnings: [],
});
const first = { address: '10.77.0.0', prefixLength: 30 };

/** The findings about the pool if a VPN has a route to its first /30. */
const findingsOnPool = (links: ClusterLock['links']): readonly string[] => {
  const routes = [{ destination: first, gateway: '10.8.0.1', flags: 'UGSc', device: 'utun3' }];
  const seen = observedFleet({ values: { 'studio-3': { routes } } });
  return diagnoseFleet(judgedFleet(run, opened(links)), seen).flatMap(({ code, detail }) =>
    code === 'address/pool-overlap' ? [plainText(detail)] : [],
  );
};

describe('the fleet that status and doctor check', () => {
  it('uses the link networks in the lock, so that later conflicts are reported', () => {
    expect(findingsOnPool({ 'studio-1:2 <-> studio-2:2': first })).toEqual([
      '10.77.0.0/30 of studio-1:2 <-> studio-2:2 overlaps the route to 10.77.0.0/30 through utun3.',
    ]);
  });

  it('has no network for a link without a network in the lock', () => {
    expect(findingsOnPool({})).toEqual([]);
    expect(judgedFleet(run, opened({})).thunderbolt.networks).toEqual({});
  });
});
