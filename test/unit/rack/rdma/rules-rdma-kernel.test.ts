import { describe, expect, it } from 'vitest';
import { scopeOf } from '../../../../src/engine/goals/registry.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { LaunchdService } from '../../../../src/model/facts/daemons.ts';
import type { RdmaHolders, RdmaObject, RdmaProcess } from '../../../../src/model/facts/rdma.ts';
import { kernelObjects } from '../../../../src/rack/rdma/kernel-fact.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { observedFleet, type RackChanges } from '../../../rack/rack.ts';
import { told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const active: readonly RdmaObject[] = [
  { kind: 'domain', isActive: true, busy: 0 },
  { kind: 'queue-pair', isActive: true, busy: 0 },
];
const inactive = active.map((one): RdmaObject => ({ ...one, isActive: false, busy: 1 }));
const python: RdmaProcess = {
  pid: 4711,
  program: 'python3.12',
  group: 4690,
  state: 'runs',
  isVerbsTool: false,
  devices: ['rdma_en3'],
};
const devinfo: RdmaProcess = { ...python, pid: 55_143, program: 'ibv_devinfo', group: 55_143, devices: [] };

interface Kernel {
  readonly objects?: readonly RdmaObject[];
  readonly processes?: readonly RdmaProcess[];
  readonly services?: readonly LaunchdService[];
  /** Domains that the kernel counts but does not list. */
  readonly surplus?: number;
}

/** A Mac with these objects on its second receptacle and none on its third. */
function withKernel({ objects = active, processes = [], services = [], surplus = 0 }: Kernel): RackChanges {
  const countOf = (kind: RdmaObject['kind']): number => objects.filter((one) => one.kind === kind).length;
  const holders: RdmaHolders = {
    devices: [
      { device: 'rdma_en3', powerState: 2, objects },
      { device: 'rdma_en4', powerState: 0, objects: [] },
    ],
    processes,
  };
  return {
    values: {
      'studio-3': {
        'rdma-objects': { domains: countOf('domain') + surplus, queuePairs: countOf('queue-pair') },
        'rdma-holders': holders,
        services,
      },
    },
  };
}

const rank = (placement: string, pid = 4690): LaunchdService => ({
  label: `dev.meshwright.rank.${placement}`,
  state: 'running',
  pid,
});

const objectsOf = (changes: RackChanges) => {
  const facts = observedFleet(changes).nodes['studio-3']?.facts;
  if (facts === undefined) throw new Error('the rack does not have this node');
  return kernelObjects(facts);
};

const pair = { domains: 1, queuePairs: 1 };
const none = { domains: 0, queuePairs: 0 };

describe('kernelObjects', () => {
  it('assigns active objects to the process that has their device open', () => {
    expect(objectsOf(withKernel({ processes: [python] }))).toMatchObject({
      value: { ...pair, held: pair, withoutProcess: none },
    });
  });

  it.each([
    ['no process has their device open', { processes: [] }],
    ['the process that had the device open has exited', { processes: [{ ...python, state: 'gone' }] }],
    ['they are inactive, even if a process has the device open', { objects: inactive, processes: [python] }],
  ] as const)('does not assign objects to any process when %s', (_when, kernel) => {
    expect(objectsOf(withKernel(kernel))).toMatchObject({ value: { ...pair, held: none, withoutProcess: pair } });
  });

  it('counts unlisted objects as left over when no process has any', () => {
    expect(objectsOf(withKernel({ surplus: 2 }))).toMatchObject({ value: { withoutProcess: { domains: 3 } } });
  });

  it.each([
    ['totals and list differ while a process has objects', withKernel({ processes: [python], surplus: 1 })],
    ['a rank runs but no process is listed', withKernel({ services: [rank('chat')] })],
    [
      'a rank may run but no process is listed',
      withKernel({ services: [{ label: rank('chat').label, state: 'unknown' }] }),
    ],
    [
      'the services are unknown and no process is listed',
      { ...withKernel({}), unknown: { 'studio-3': { services: 'failed' } } },
    ],
    ['the holders are unknown', { ...withKernel({}), unknown: { 'studio-3': { 'rdma-holders': 'garbled' } } }],
    ['the driver is not loaded', { unknown: { 'studio-3': { 'rdma-objects': 'empty' } } }],
  ] as const)('is unknown when %s', (_when, changes) => {
    expect(objectsOf(changes).kind).toBe('unknown');
  });

  it('is zero when the kernel counts no objects', () => {
    const unread: RackChanges = { unknown: { 'studio-3': { 'rdma-holders': 'garbled' } } };
    expect(objectsOf(unread)).toEqual({ kind: 'known', value: { ...none, held: none, withoutProcess: none } });
  });
});

describe('holders of RDMA objects', () => {
  const fleet = meshFleet({ placement: { nodes: ['studio-1', 'studio-3'], transport: 'rdma' } as never });
  const kimi = { placements: fleet.placements };

  it.each([
    ['is the rank', 4711],
    ['is a child of the rank', 4690],
  ])('are not reported when the process %s of a placement that should serve on this node', (_what, pid) => {
    const changes = withKernel({ processes: [python], services: [rank('kimi', pid)] });
    expect(told(changes, kimi).filter((one) => one.includes('rdma/'))).toEqual([]);
  });

  it('are not reported if the plan stops the rank that holds the objects', () => {
    const { desired } = scopeOf({ kind: 'stop', placements: ['kimi'] }, fleet);
    const changes = withKernel({ processes: [python], services: [rank('kimi')] });
    const heldOf = (placements: DesiredFleet['placements']) =>
      told(changes, { placements }).filter((one) => one.includes('rdma/held'));
    expect(heldOf(desired.placements)).toEqual([]);
    const declared = fleet.placements.map((one) => ({ ...one, state: 'stopped' as const }));
    expect(heldOf(declared)).toEqual(['warning rdma/held node studio-3']);
    const stopped = scopeOf({ kind: 'stop', placements: ['kimi'] }, { ...fleet, placements: declared }).desired;
    expect(heldOf(stopped.placements)).toEqual(['warning rdma/held node studio-3']);
  });

  it.each([
    ['reported with the kill command when the process is not a rank', []],
    ['stopped by apply when the process is a rank missing from the file', [rank('old')]],
  ])('are %s', (_, services) => {
    expect(told(withKernel({ processes: [python], services }))).toEqual(['warning rdma/held node studio-3']);
  });

  it('require a restart of this Mac only when no process has the objects', () => {
    const changes = withKernel({ objects: inactive });
    expect(told(changes)).toEqual(['warning rdma/left-in-kernel node studio-3']);
  });

  it('require a restart when an uninterruptible process has an inactive object', () => {
    const waiting = { ...python, state: 'uninterruptible' } as const;
    const changes = withKernel({ objects: inactive, processes: [waiting] });
    expect(told(changes)).toEqual(['error rdma/process-stuck node studio-3']);
    // A rank is also uninterruptible while it loads its model from disk.
    expect(told(withKernel({ processes: [waiting], services: [rank('kimi')] }), kimi)).not.toContain(
      'error rdma/process-stuck node studio-3',
    );
  });

  it('require a restart for a hung verbs tool but not for a running one', () => {
    const hung = { ...devinfo, isVerbsTool: true, state: 'uninterruptible' } as const;
    expect(told(withKernel({ objects: [], processes: [hung] }))).toEqual(['error rdma/process-stuck node studio-3']);
    const running = { ...hung, state: 'runs', program: 'ibv_uc_pingpong' } as const;
    const found = told(withKernel({ objects: [], processes: [running] }));
    expect(found).toEqual(['warning rdma/held node studio-3']);
  });

  it('do not include verbs tools started by a concurrent observation', () => {
    const passing = { ...devinfo, devices: ['rdma_en4'] };
    expect(told(withKernel({ processes: [passing] })).filter((one) => one.includes('rdma/held'))).toEqual([]);
  });
});

onOnePage('rules-rdma-kernel');
