import { describe, expect, it } from 'vitest';
import { modelledFleet } from '../../../../src/sim/hosts/modelled-fleet.ts';
import { type NetworkNode, networkSettings } from '../../../namespace/host/network.ts';
import { desiredRack } from '../../../rack/rack.ts';

/** Every network setting of the rack after these faults, with the nodes in `off` powered off. */
function settings(faults: readonly string[] = [], off: readonly string[] = []): ReadonlyMap<string, string> {
  const model = modelledFleet(desiredRack, 'network');
  for (const fault of faults) expect(model.setFault(fault.split(' ')).kind).toBe('done');
  const nodes = model.nodes.map(({ name }): NetworkNode => {
    const { wiring } = model.viewOf(name);
    if (wiring === undefined) throw new Error(`${name} has no wiring`);
    return { name, wiring, isPowered: !off.includes(name) };
  });
  return new Map(networkSettings(nodes).map(({ about, value }) => [about, value]));
}

/** The settings that differ from the healthy rack. */
function changed(faults: readonly string[], off: readonly string[] = []): Readonly<Record<string, string>> {
  const healthy = settings();
  return Object.fromEntries([...settings(faults, off)].filter(([about, value]) => healthy.get(about) !== value));
}

describe('the network between namespace nodes', () => {
  it("joins both ends of every cable, at the cable's speed", () => {
    const all = settings();
    expect([all.get('plug c0en3'), all.get('plug c1en3')]).toEqual(['bc0en3', 'bc0en3']);
    expect([all.get('pace c0en3'), all.get('address studio-1 en3')]).toEqual(['80', '10.77.0.1/30']);
    expect(all.get('plug c0en2')).toBe('out');
  });

  it('changes only the two ends of an unplugged cable', () => {
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

  it('slows both ends of a cable that carries less than its link speed', () => {
    expect(changed(['cable-slow studio-1:2'])).toEqual({ 'pace c0en3': '8', 'pace c1en3': '8' });
  });

  it('blocks a link whose port went dead while idle', () => {
    expect(changed(['idle-dead-port studio-1:2'])).toEqual({ 'pace c0en3': 'nothing', 'pace c1en3': 'nothing' });
  });

  it('blocks all cables of a Mac whose RDMA hangs, without moving a plug', () => {
    const values = changed(['rdma-hang studio-1']);
    expect(Object.keys(values).every((about) => about.startsWith('pace c0'))).toBe(true);
    expect(new Set(Object.values(values))).toEqual(new Set(['nothing']));
  });

  it("disconnects a powered-off Mac's office network and both ends of all its cables", () => {
    const values = changed([], ['studio-1']);
    expect(values['office o0']).toBe('down');
    const plugs = Object.entries(values).filter(([about]) => about.startsWith('plug'));
    expect(plugs).toHaveLength(6);
    expect(plugs.every(([, value]) => value === 'out')).toBe(true);
  });
});
