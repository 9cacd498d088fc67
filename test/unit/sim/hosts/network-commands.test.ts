import { describe, expect, it } from 'vitest';
import { modelledFleet } from '../../../../src/sim/hosts/modelled-fleet.ts';
import { type NetworkNode, networkSettings } from '../../../../src/sim/hosts/namespace/network.ts';
import { desiredRack } from '../../../rack/rack.ts';

/** Every setting of the rack by what it is about, after these faults and without current on these nodes. */
function settings(faults: readonly string[] = [], off: readonly string[] = []): ReadonlyMap<string, string> {
  const model = modelledFleet(desiredRack, 'network');
  for (const fault of faults) expect(model.setFault(fault.split(' ')).kind).toBe('done');
  const nodes = model.nodes.map(({ name }): NetworkNode => {
    const { wiring } = model.look(name);
    if (wiring === undefined) throw new Error(`no wiring of ${name}`);
    return { name, wiring, isPowered: !off.includes(name) };
  });
  return new Map(networkSettings(nodes).map(({ about, value }) => [about, value]));
}

/** What differs from the healthy rack. */
function changed(faults: readonly string[], off: readonly string[] = []): Readonly<Record<string, string>> {
  const healthy = settings();
  return Object.fromEntries([...settings(faults, off)].filter(([about, value]) => healthy.get(about) !== value));
}

describe('the network of nodes in namespaces', () => {
  it('joins both ends of every cable, at the speed of the cable', () => {
    const all = settings();
    expect([all.get('plug c0en3'), all.get('plug c1en3')]).toEqual(['bc0en3', 'bc0en3']);
    expect([all.get('pace c0en3'), all.get('address studio-1 en3')]).toEqual(['80', '10.77.0.1/30']);
    expect(all.get('plug c0en2')).toBe('out');
  });

  it('touches the two ends of a pulled cable and nothing else', () => {
    expect(changed(['cable-missing studio-1:2'])).toEqual({
      'plug c0en3': 'out',
      'plug c1en3': 'out',
      'address studio-1 en3': '',
      'address studio-2 en3': '',
    });
  });

  it('slows both ends of an older cable', () => {
    expect(changed(['cable-40g studio-1:2'])).toEqual({ 'pace c0en3': '40', 'pace c1en3': '40' });
  });

  it('lets nothing through a link that has idled too long', () => {
    expect(changed(['idle-dead-port studio-1:2'])).toEqual({ 'pace c0en3': 'nothing', 'pace c1en3': 'nothing' });
  });

  it('lets a Mac whose RDMA hangs pass nothing on, while every plug stays where it is', () => {
    const values = changed(['rdma-hang studio-1']);
    expect(Object.keys(values).every((about) => about.startsWith('pace c0'))).toBe(true);
    expect(new Set(Object.values(values))).toEqual(new Set(['nothing']));
  });

  it('pulls the cables of a Mac without current at both ends, and cuts it off from the office', () => {
    const values = changed([], ['studio-1']);
    expect(values['office o0']).toBe('down');
    const plugs = Object.entries(values).filter(([about]) => about.startsWith('plug'));
    expect(plugs).toHaveLength(6);
    expect(plugs.every(([, value]) => value === 'out')).toBe(true);
  });
});
