import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredPlacement } from '../../../../../src/model/desired.ts';
import type { Gid } from '../../../../../src/model/facts/rdma.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { placementFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../../src/rack/placement/check/placement-survey.ts';
import { fleetOfDriver, type MeshRack, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { healthyFacts, meshOfFour, receptacles } from '../../../../rack/rack.ts';

const silent = { kind: 'silent', reason: 'none came before the deadline of 4 s' } as const;
const up = threeRanks(['joined', 'joined', 'joined']);
const idle = threeRanks(['stopped', 'stopped', 'stopped']);
const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const gidTo = (ipv4: string, index: number): Gid => ({ index, gid: `::ffff:${ipv4}`, ipv4 });

/** Idle ranks, and other GIDs on the device of receptacle 2 of studio-1, which leads to studio-2. */
function withGids(gids: readonly Gid[], ranks = idle): MeshRack {
  const ports = healthyFacts('studio-1', receptacles('studio-1', 6, meshOfFour))['rdma-ports'];
  const seen = ports.map((one) => (one.device === 'rdma_en3' ? { ...one, gids } : one));
  return { ranks, values: { 'studio-1': { 'rdma-ports': seen } } };
}

const second = withGids([gidTo('10.77.0.1', 2)]);
const unseen: MeshRack = { ranks: idle, unknown: { 'studio-1': { 'rdma-ports': 'busy' } } };

/** The blockers about GIDs, whether a plan starts the ranks, and all findings as `severity code`. */
function judged(rack: MeshRack, driver = 'mlx', placement: Partial<DesiredPlacement> = {}) {
  const desired = fleetOfDriver(driver, { placement: { transport: 'rdma', ...placement } });
  const observation = observeMesh(desired, rack);
  const plan = makePlan({ goal: { kind: 'converge' }, desired, observation, targets: four });
  const view = viewOf({ desired, observation, targets: four });
  return {
    blockers: plan.blockers.filter(({ code }) => code === 'placement/gid-index'),
    isStarted: plan.changes.some(({ id }) => id.includes('placement/kimi')),
    findings: placementFindings(view, surveyPlacements(view)).map(({ severity, code }) => `${severity} ${code}`),
    inPlan: plan.diagnostics.map(({ severity, code }) => `${severity} ${code}`),
  };
}

describe('ranks whose runtime sends only from GID index 1', () => {
  it.each(['mlx', 'exo'])('of %s are not started over a cable whose GID is at index 2', (driver) => {
    const { blockers, isStarted, findings } = judged(second, driver);
    expect(blockers).toMatchObject([
      {
        node: 'studio-1',
        action: `placement kimi: ${driver} sends over RDMA only from GID index 1, but the GID of the IPv4 address is at index 2 on studio-1:2 (rdma_en3). Every start fails there (RTR errno 22). No cure is known. Set \`transport: tcp\` for this placement, or use a runtime with \`driver: llamacpp-rpc\`, which can send from any index.`,
        blocks: ['studio-1 placement/kimi'],
      },
    ]);
    expect([isStarted, findings]).toEqual([false, ['error placement/gid-index']]);
  });

  it.each([
    ['the runtime sends from any index', second, 'llamacpp-rpc', {}],
    ['the ranks use TCP', second, 'mlx', { transport: 'tcp' }],
    [
      'the ring does not use the cable',
      second,
      'mlx',
      { nodes: [four[0], four[2], four[1], four[3]], backend: 'jaccl-ring' },
    ],
    ['there is one rank', second, 'mlx', { nodes: four.slice(0, 1) }],
    ['a different IPv4 GID is at index 1', withGids([gidTo('169.254.1.2', 1), gidTo('10.77.0.1', 2)]), 'mlx', {}],
    ['apply has not set the address yet', withGids([gidTo('169.254.1.2', 2)]), 'mlx', {}],
    ['the GIDs are unknown', unseen, 'mlx', {}],
  ] as const)('cause no finding while %s', (_what, rack, driver, placement) => {
    const { blockers, findings } = judged(rack, driver, placement as Partial<DesiredPlacement>);
    expect([blockers, findings.filter((one) => one.includes('gid'))]).toEqual([[], []]);
  });

  it('get a warning while they serve', () => {
    const { findings, inPlan } = judged(withGids([gidTo('10.77.0.1', 2)], up));
    expect([findings, inPlan]).toEqual([['warning placement/gid-index'], ['warning placement/gid-index']]);
  });

  it('cause no suspicion about the cable when they hang', () => {
    const hung = { ...up, 'studio-1': (up['studio-1'] ?? []).map((one) => ({ ...one, token: silent })) };
    expect(judged(withGids([gidTo('10.77.0.1', 2)], hung)).findings).toEqual(['error placement/gid-index']);
  });
});
