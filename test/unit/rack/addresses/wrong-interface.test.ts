import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan, planFor } from '../../../rack/plans.ts';
import { type RackChanges, settledFacts, settledFleet, settledValues } from '../../../rack/rack.ts';
import { told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const node = 'studio-3';
const desired = settledFleet();
const settled = settledFacts(node);
const rackWith = (values: Partial<FactValues>): RackChanges => ({
  values: { ...settledValues(), [node]: { ...settled, ...values } },
});
const withStatus = (status: Readonly<Record<string, 'active' | 'inactive'>>): Partial<FactValues> => ({
  interfaces: settled.interfaces.map((one) => ({ ...one, status: status[one.name] ?? one.status ?? 'inactive' })),
  'rdma-ports': settled['rdma-ports'].map((port) => {
    const wanted = status[port.device.replace('rdma_', '')];
    return wanted === undefined ? port : { ...port, state: wanted === 'active' ? 'active' : 'down' };
  }),
});
const moved = withStatus({ en3: 'inactive', en7: 'active' });

describe("a cable whose carrier is on a free receptacle's interface", () => {
  it('is the only finding, and blocks the link', () => {
    expect(told(rackWith(moved), desired)).toEqual(['error address/no-carrier link studio-1:3 <-> studio-3:2']);
    const { blockers, changes } = planFor({ desired, rack: rackWith(moved) });
    expect([blockers.map(({ code, resource }) => [code, resource]), changes]).toEqual([
      [['address/no-carrier', 'thunderbolt-link']],
      [],
    ]);
  });

  it('keeps a placement over TCP running, because a restart is refused before anything stops', () => {
    const mesh = meshFleet();
    const ranks = threeRanks(['joined', 'running', 'running'], { token: { kind: 'answered', text: 'Hi' } });
    const values = Object.entries(rackWith(moved).values ?? {}).map(
      ([name, { placements: _, services: __, ...facts }]) => [name, facts],
    );
    const goal = { kind: 'stop', placements: ['kimi'], back: ['kimi'] } as const;
    const targets = mesh.nodes.map(({ name }) => name);
    const observation = observeMesh(mesh, { ranks, values: Object.fromEntries(values) });
    const { steps, waiting } = makePlan({ goal, desired: mesh, observation, targets });
    const kimi = waiting.find(({ resource }) => resource === 'placement/kimi');
    expect(kimi?.for.map(({ text }) => text)).toContain('address/no-carrier on studio-3');
    expect(steps.filter(({ id }) => id.includes('kimi'))).toEqual([]);
  });

  it('is not assumed if no other interface has carrier', () => {
    const codes = told(rackWith(withStatus({ en3: 'inactive' })), desired);
    expect(codes).toEqual(['error rdma/port-down node studio-3']);
  });
});

describe('the address of a receptacle whose interface has changed', () => {
  it('stays on the old interface until apply moves it', () => {
    const renamed: Readonly<Record<string, string>> = { en3: 'en7', en7: 'en3' };
    const ports = settled['hardware-ports'].map((one) => ({ ...one, device: renamed[one.device] ?? one.device }));
    const rack = rackWith({ ...moved, 'hardware-ports': ports });
    expect(told(rack, desired)).toEqual([
      'error address/by-dhcp node studio-3',
      'error address/left-behind receptacle studio-3:2',
    ]);
    const { blockers, steps } = planFor({ desired, rack });
    expect(blockers).toEqual([]);
    expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
      ['studio-3/link-address/6/clear', []],
      ['studio-3/link-address/2/set', ['studio-3/link-address/6/clear']],
      ['studio-3/link-address/gate', ['studio-3/link-address/2/set']],
    ]);
  });
});

onOnePage('wrong-interface');
