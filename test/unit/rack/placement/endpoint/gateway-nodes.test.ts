import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../../src/diagnostics/diagnose.ts';
import type { FactValues } from '../../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { nodeSubject } from '../../../../../src/model/subject.ts';
import { gatewayNodes, unaskedGateway } from '../../../../../src/rack/placement/endpoint/drain.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { asText } from '../../../as-text.ts';
import { onOnePage } from '../../../one-page.ts';

const fleet = meshFleet();
const serving = threeRanks(['joined', 'joined', 'joined']);
const gateway = (behind?: readonly string[]): Partial<FactValues> => ({
  services: [{ label: 'dev.meshwright.gateway.8080', state: 'running', pid: 7, ...(behind ? { behind } : {}) }],
});
const nodesWith = (rack: MeshRack): readonly string[] =>
  gatewayNodes({ desired: fleet, observation: observeMesh(fleet, rack) }, ['kimi']);

describe('nodes with gateways for a placement', () => {
  it('include the leader and each node whose gateway serves the placement', () => {
    expect(nodesWith({ ranks: {} })).toEqual(['studio-1']);
    expect(nodesWith({ ranks: {}, values: { 'studio-4': gateway(['kimi']) } })).toEqual(['studio-1', 'studio-4']);
    expect(nodesWith({ ranks: {}, values: { 'studio-4': gateway(['qwen']) } })).toEqual(['studio-1']);
  });

  it('include unreachable nodes unless rank 0 runs on another node', () => {
    expect(nodesWith({ ranks: {}, unreachable: ['studio-4'] })).toEqual(['studio-1', 'studio-4']);
    expect(nodesWith({ ranks: serving, unreachable: ['studio-4'] })).toEqual(['studio-1']);
    const { 'studio-1': _, ...others } = serving;
    expect(nodesWith({ ranks: others, unreachable: ['studio-1', 'studio-4'] })).toEqual(['studio-1', 'studio-4']);
    expect(gatewayNodes({ desired: fleet, observation: { nodes: {}, failures: {} } }, ['kimi'])).toHaveLength(4);
  });

  it('include nodes whose services are unknown unless rank 0 runs on another node', () => {
    expect(nodesWith({ ranks: {}, values: { 'studio-4': gateway() } })).toEqual(['studio-1']);
    const services = { 'studio-4': { services: 'timed-out' } } as const;
    expect(nodesWith({ ranks: {}, unknown: services })).toEqual(['studio-1', 'studio-4']);
    expect(nodesWith({ ranks: serving, unknown: services })).toEqual(['studio-1']);
  });
});

describe('a drain plan', () => {
  const drain = { kind: 'drain', placements: ['kimi'], waitMs: 1 } as const;
  const targets = fleet.nodes.map(({ name }) => name);

  it('ignores a refused Mac while the ranks run on other nodes', () => {
    const refused = (node: string) => ({
      [node]: [diagnose('ssh/refused', { subject: nodeSubject(node), detail: '-' })],
    });
    const codesFor = (ranks: MeshRack['ranks']): readonly string[] => {
      const seen = observeMesh(fleet, { ranks, unreachable: ['studio-4'] });
      const observation = { ...seen, failures: refused('studio-4') };
      return makePlan({ goal: drain, desired: fleet, observation, targets }).diagnostics.map(({ code }) => code);
    };
    expect(codesFor(serving)).toEqual([]);
    expect(codesFor({})).toContain('endpoint/not-asked');
  });

  it('waits for a Mac that may still have a gateway', () => {
    const observation = observeMesh(fleet, { ranks: {}, unknown: { 'studio-4': { services: 'timed-out' } } });
    const plan = makePlan({ goal: drain, desired: fleet, observation, targets });
    expect(plan.waiting).toMatchObject([{ node: 'studio-4', resource: 'gateway', isUnknown: true }]);
    expect(Object.keys(plan.observed)).toEqual(['studio-1', 'studio-4']);
  });

  it('explains the consequences of an unreachable Mac and the next step', () => {
    const [kimi = expect.fail('the fleet has no placement')] = fleet.placements;
    const [own, other] = ['studio-1', 'studio-4'].map((name) => asText(unaskedGateway(kimi, nodeName(name))));
    expect(own?.detail).toContain('whether its gateway for kimi is closed and has requests in flight');
    expect(own?.hint).toBe(
      'Bring studio-1 back, then: meshwright drain kimi. If it is gone for good, remove it from the nodes of kimi in the file.',
    );
    expect(other?.detail).toContain('whether an earlier file left a gateway for kimi there');
    expect(other?.hint).toContain('remove it from the file.');
    const replica = unaskedGateway({ ...kimi, name: 'all-a', replica: { of: 'all', at: 0 } }, nodeName('studio-1'));
    expect(asText(replica).hint).toMatch(/drain all-a\. .* remove it from the nodes of all in the file\.$/);
  });
});

onOnePage('gateway-nodes');
