import { describe, expect, it } from 'vitest';
import { type ActiveFault, faultNames } from '../../../../src/sim/faults/faults.ts';
import type { SimulatedFleet } from '../../../../src/sim/model/fleet.ts';
import { answer, broken, simulated } from '../../../rack/rack.ts';

interface Edge {
  readonly own: string;
  readonly peer: string;
  readonly speed: string;
}

/** Every cable end that a node prints: its domain, the peer's domain and the speed. */
function edgesOf(fleet: SimulatedFleet, node: string): readonly Edge[] {
  const json = answer(fleet, node, 'system_profiler/SPThunderboltDataType_-json.out');
  const buses: readonly Record<string, never>[] = JSON.parse(json)['SPThunderboltDataType'];
  return buses.flatMap((bus) =>
    Array.from<Record<string, string>>(bus['_items'] ?? []).map((item) => ({
      own: String(bus['domain_uuid_key']),
      peer: String(item['domain_uuid_key']),
      speed: String(bus['receptacle_1_tag']?.['current_speed_key']),
    })),
  );
}

const healthy = simulated();
const nodes = healthy.macs.map(({ name }) => name);
/** Faults whose purpose is that the two ends differ. */
const disagreeing: readonly string[] = ['wrong-mac', 'cable-foreign', 'hub-between', 'hub-hides-peer'];
const counts: Readonly<Record<string, number>> = { 'cable-missing': 10, 'cable-doubled': 14, 'cable-extra': 14 };
const targets: Readonly<Record<string, string>> = {
  'idle-dead-port': 'studio-2:3',
  'cable-40g': 'studio-2:3',
  'cable-demoted': 'studio-2:3',
  'cable-doubled': 'studio-2:3',
  'cable-missing': 'studio-2:3',
  'cable-slow': 'studio-2:3',
  'cable-swapped': 'studio-1:2,studio-4:4',
  'internet-sharing': 'studio-2:3',
};
const cases: readonly (readonly [string, readonly ActiveFault[]])[] = [
  ['no fault', []],
  ...faultNames
    .filter((fault) => !disagreeing.includes(fault))
    .map((fault) => [fault, [{ fault, target: targets[fault] ?? 'studio-2' }]] as const),
];

describe('the two ends of a simulated cable', () => {
  it.each(cases)('agree on domains and speed under %s', (_, active) => {
    const fleet = broken(healthy, ...active);
    const edges = nodes.flatMap((node) => edgesOf(fleet, node));
    expect(edges).toHaveLength(counts[active[0]?.fault ?? ''] ?? 12);
    for (const { own, peer, speed } of edges) expect(edges).toContainEqual({ own: peer, peer: own, speed });
  });

  it('show the older cable at both ends', () => {
    const fleet = broken(healthy, { fault: 'cable-40g', target: 'studio-2:3' });
    const slow = nodes.map((node) => edgesOf(fleet, node).filter(({ speed }) => speed === '40 Gb/s').length);
    expect(slow).toEqual([0, 1, 1, 0]);
  });

  it('show both services only if RDMA is enabled at the far end', () => {
    const fleet = broken(healthy, { fault: 'rdma-disabled', target: 'studio-3' });
    const offers = (node: string): number =>
      answer(fleet, node, 'system_profiler/SPThunderboltDataType_-json.out').match(/64087/g)?.length ?? 0;
    expect(nodes.map(offers)).toEqual([2, 2, 3, 2]);
  });
});
