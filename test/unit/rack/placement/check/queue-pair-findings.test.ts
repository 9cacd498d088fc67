import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import type { FactValues } from '../../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../../src/engine/plan/plan.ts';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../../src/model/desired.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { subjectText } from '../../../../../src/model/subject.ts';
import type { FleetObservation } from '../../../../../src/rack/examination.ts';
import { read } from '../../../../../src/rack/fact.ts';
import { placementFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../../src/rack/placement/check/placement-survey.ts';
import { rdmaPortsFact } from '../../../../../src/rack/rdma/devices-fact.ts';
import { type MeshRack, meshFleet, mlxRuntime, observeMesh } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { onOnePage } from '../../../one-page.ts';

const nodes = (count: number) => ['studio-1', 'studio-2', 'studio-3', 'studio-4'].slice(0, count).map(nodeName);

/** `kimi` over RDMA on the first two Macs, as a JACCL ring. */
function fleet(change: Partial<DesiredPlacement> = {}): DesiredFleet {
  const placement = { nodes: nodes(2), runtime: 'mlx', transport: 'rdma', backend: 'jaccl-ring', ...change } as const;
  return { ...meshFleet({ placement }), runtimes: [mlxRuntime] };
}

const healthy = observeMesh(fleet(), { ranks: {} });

/** Ports as `ibv_devinfo -v` prints them, without limits if `maxQueuePairs` is undefined. */
function devices(node: string, maxQueuePairs?: number): Partial<FactValues> {
  const ports = read(healthy.nodes[node]?.facts, rdmaPortsFact);
  const seen = ports?.kind === 'known' ? ports.value : [];
  const limits = maxQueuePairs === undefined ? {} : { maxQueuePairs, maxProtectionDomains: 11 };
  return { 'rdma-ports': seen.map((port) => ({ ...port, ...limits })) };
}

/** RDMA starts counted in this boot session. */
const started = (node: string, starts: number, complaint?: string): Partial<FactValues> => {
  const startedIn = `BOOT-${node}`;
  const last = complaint === undefined ? [] : [{ placement: 'kimi', startedIn, complaint }];
  return { 'rdma-starts': { startedIn, starts, last } };
};

interface Case {
  readonly of?: DesiredFleet;
  readonly limits?: number;
  readonly starts?: number;
  readonly complaint?: string;
  readonly ranks?: MeshRack['ranks'];
}

function observe({ of = fleet(), limits, starts = 0, complaint, ranks = {} }: Case): FleetObservation {
  const shown = nodes(4).map((node) => [node, { ...devices(node, limits), ...started(node, starts, complaint) }]);
  return observeMesh(of, { ranks, values: Object.fromEntries(shown) });
}

function planOf(one: Case): Plan {
  const { of: desired = fleet() } = one;
  const targets = desired.nodes.map(({ name }) => name);
  return makePlan({ goal: { kind: 'converge' }, desired, observation: observe(one), targets });
}

const meant = ['placement/too-few-queue-pairs', 'mesh/launch-budget'];
const refusals = (one: Case) => planOf(one).blockers.filter(({ code }) => meant.includes(code));
const codes = (one: Case): readonly string[] => refusals(one).map(({ code }) => code);

describe('a JACCL ring of two ranks', () => {
  it('is refused without suggesting a restart when a device has only one queue pair', () => {
    const plan = refusals({ limits: 2 });
    expect(plan).toMatchObject([
      {
        code: 'placement/too-few-queue-pairs',
        node: 'studio-1',
        peers: ['studio-2'],
        blocks: ['studio-1 placement/kimi'],
        isHands: false,
      },
    ]);
    expect(plan[0]?.action).toBe(
      'placement kimi: Each rank needs 2 queue pairs on every device that it uses. In one boot session, the devices of studio-1 have 1, the devices of studio-2 have 1. Remove `backend`: two cabled ranks then use `jaccl`, which needs only one queue pair from each device. A ring of three or more nodes also needs only one, and `backend: ring` with `transport: tcp` needs none.',
    );
  });

  it('is refused for too few queue pairs at any start count', () => {
    expect([0, 1, 5].map((starts) => codes({ limits: 2, starts }))).toEqual(
      Array(3).fill(['placement/too-few-queue-pairs']),
    );
  });

  it('requires a restart when only this boot session has no queue pairs left', () => {
    expect(codes({ limits: 3, starts: 1 })).toEqual(['mesh/launch-budget', 'mesh/launch-budget']);
    expect(codes({ limits: 3 })).toEqual([]);
  });

  it('is not refused when the limits are unknown', () => {
    expect(codes({})).toEqual([]);
  });

  it('is refused as a fallback, unlike the suggested alternatives', () => {
    const fallback = { nodes: nodes(2), contextTokens: 2_048 };
    const [found, ...others] = refusals({ of: fleet({ nodes: nodes(4), fallback }), limits: 2 });
    expect([found?.code, others]).toEqual(['placement/too-few-queue-pairs', []]);
    expect(found?.action).toContain('On its fallback (studio-1, studio-2');
    expect(codes({ of: fleet({ nodes: nodes(4) }), limits: 2 })).toEqual([]);
    expect(codes({ of: fleet({ backend: 'jaccl' }), limits: 2 })).toEqual([]);
    expect(codes({ of: fleet({ backend: 'ring', transport: 'tcp' }), limits: 2 })).toEqual([]);
  });
});

describe('findings for a JACCL ring that failed to create queue pairs', () => {
  function findingsFor(one: Case) {
    const desired = fleet();
    const targets = desired.nodes.map(({ name }) => name);
    const rank = (rank: number) => [{ state: 'exited', rank, changes: { size: 2 } }] as const;
    const ranks = { 'studio-1': rank(0), 'studio-2': rank(1) };
    const complaint = 'ibv_create_qp failed: errno 16';
    const view = viewOf({ desired, observation: observe({ ...one, ranks, complaint, starts: 2 }), targets });
    return placementFindings(view, surveyPlacements(view)).filter(({ code }) => /queue-pairs|exhausted/.test(code));
  }

  it('report too few queue pairs without suggesting a restart', () => {
    const [found, ...others] = findingsFor({ limits: 2 });
    expect([found?.code, subjectText(found?.subject), others]).toEqual([
      'placement/too-few-queue-pairs',
      'placement kimi',
      [],
    ]);
    expect(found && plainText(found.detail)).toContain('studio-1 logged "ibv_create_qp failed: errno 16"');
    expect(found && plainText(found.hint)).not.toContain('reboot');
  });

  it('suspect exhausted devices when the limits are high enough', () => {
    expect(findingsFor({ limits: 11 }).map(({ code }) => code)).toEqual(['rdma/suspected-exhausted']);
  });
});

onOnePage('queue-pair-findings');
