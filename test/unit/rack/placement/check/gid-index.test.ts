import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredPlacement } from '../../../../../src/model/desired.ts';
import type { Gid } from '../../../../../src/model/facts/rdma.ts';
import { known } from '../../../../../src/model/known.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { launchGidWarnings, neededGids } from '../../../../../src/rack/placement/check/gid-index.ts';
import { placementFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../../src/rack/placement/check/placement-survey.ts';
import { fleetOfDriver, type MeshRack, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { settledFacts } from '../../../../rack/rack.ts';

const silent = { kind: 'silent', reason: 'none came before the deadline of 4 s' } as const;
const up = threeRanks(['joined', 'joined', 'joined']);
const idle = threeRanks(['stopped', 'stopped', 'stopped']);
const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const gidTo = (ipv4: string, index: number): Gid => ({ index, gid: `::ffff:${ipv4}`, ipv4 });

/** Every cable has its GID at index 1, but the device of receptacle 2 of studio-1, which leads to studio-2, has these. */
function withGids(gids: readonly Gid[], ranks = idle): MeshRack {
  const ports = (name: string) =>
    settledFacts(name)['rdma-ports'].map((one) =>
      name === 'studio-1' && one.device === 'rdma_en3' ? { ...one, gids } : one,
    );
  return { ranks, values: Object.fromEntries(four.map((name) => [name, { 'rdma-ports': ports(name) }])) };
}

const second = withGids([gidTo('10.77.0.1', 2)]);
const unseen: MeshRack = { ...withGids([]), unknown: { 'studio-1': { 'rdma-ports': 'busy' } } };

/** The blockers about GIDs, whether a plan starts the ranks, and all findings as `severity code`. */
function judged(rack: MeshRack, driver = 'mlx', placement: Partial<DesiredPlacement> = {}) {
  const desired = fleetOfDriver(driver, { placement: { transport: 'rdma', ...placement } });
  const observation = observeMesh(desired, rack);
  const plan = makePlan({ goal: { kind: 'converge' }, desired, observation, targets: four });
  const view = viewOf({ desired, observation, targets: four });
  return {
    blockers: plan.blockers.filter(({ code }) => code === 'placement/gid-index'),
    needed: desired.placements.map((one) => neededGids(one, desired, Object.values(observation.nodes)))[0],
    isStarted: plan.changes.some(({ id }) => id.includes('placement/kimi')),
    findings: placementFindings(view, surveyPlacements(view)).map(({ severity, code }) => `${severity} ${code}`),
    inPlan: plan.diagnostics.map(({ severity, code }) => `${severity} ${code}`),
  };
}

describe('ranks whose runtime sends only from GID index 1', () => {
  it.each(['mlx', 'exo'])('are not started by %s over a cable whose GID is at index 2', (driver) => {
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

  it.each([
    ['apply has not set the address yet', withGids([gidTo('169.254.1.2', 2)]), true, known('usable')],
    ['the GID is missing', withGids([]), true, known('usable')],
    ['a GID is at index 2', second, false, known('index 2 on studio-1:2 (rdma_en3)')],
    ['the GIDs are unknown', unseen, false, { kind: 'unknown' }],
  ])('wait only for GIDs that the run itself may create: %s', (_what, rack, isMade, seen) => {
    expect(judged(rack).needed).toMatchObject({ isMade, seen });
    expect(judged(rack, 'llamacpp-rpc').needed).toBeUndefined();
  });

  it('cause a warning while they serve', () => {
    const { findings, inPlan } = judged(withGids([gidTo('10.77.0.1', 2)], up));
    expect([findings, inPlan]).toEqual([['warning placement/gid-index'], ['warning placement/gid-index']]);
  });

  it('cause no suspicion about the cable when they hang', () => {
    const hung = { ...up, 'studio-1': (up['studio-1'] ?? []).map((one) => ({ ...one, token: silent })) };
    expect(judged(withGids([gidTo('10.77.0.1', 2)], hung)).findings).toEqual(['error placement/gid-index']);
  });
});

describe('the warning about GIDs of a launch', () => {
  const warnings = (rack: MeshRack, ...names: readonly number[]) => {
    const desired = fleetOfDriver('mlx', {});
    const nodes = Object.values(observeMesh(desired, rack).nodes);
    const group = names.map((number) => nodeName(`studio-${number}`));
    return launchGidWarnings(group, desired, nodes).map(({ severity, code, detail }) => [severity, code, detail]);
  };

  it('names the cable ends from which mlx cannot send to other ranks', () => {
    const detail =
      'mlx sends over RDMA only from GID index 1, but the GID of the IPv4 address is at index 2 on studio-1:2 (rdma_en3). If the program uses mlx, it fails there (RTR errno 22).';
    for (const names of [
      [1, 2],
      [2, 1],
      [1, 2, 3, 4],
    ])
      expect(warnings(second, ...names)).toEqual([['warning', 'placement/gid-index', detail]]);
  });

  it('is absent if no rank uses the cable, or if the GIDs are unknown', () => {
    expect([warnings(second, 1, 3), warnings(second, 2, 3, 4), warnings(unseen, 1, 2)]).toEqual([[], [], []]);
  });
});
