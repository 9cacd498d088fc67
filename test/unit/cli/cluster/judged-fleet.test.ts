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

/** What is said of the pool when a VPN has a route to the first /30 of it. */
const saidOfPool = (links: ClusterLock['links']): readonly string[] => {
  const routes = [{ destination: first, gateway: '10.8.0.1', flags: 'UGSc', device: 'utun3' }];
  const seen = observedFleet({ values: { 'studio-3': { routes } } });
  return diagnoseFleet(judgedFleet(run, opened(links)), seen).flatMap(({ code, detail }) =>
    code === 'address/pool-overlap' ? [plainText(detail)] : [],
  );
};

describe('the fleet that status and doctor judge', () => {
  it('has the networks that the lock gave to links: what gets into their way later is told', () => {
    expect(saidOfPool({ 'studio-1:2 <-> studio-2:2': first })).toEqual([
      '10.77.0.0/30 of studio-1:2 <-> studio-2:2 overlaps the route to 10.77.0.0/30 through utun3.',
    ]);
  });

  it('has none for a link that was given none: it will go around', () => {
    expect(saidOfPool({})).toEqual([]);
    expect(judgedFleet(run, opened({})).thunderbolt.networks).toEqual({});
  });
});
