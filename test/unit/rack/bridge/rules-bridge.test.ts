import { describe, expect, it } from 'vitest';
import { surveyFleet } from '../../../../src/engine/diagnose/survey.ts';
import type { FactName, FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { NetworkInterface } from '../../../../src/model/facts/fact-values.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import {
  desiredFleet,
  healthyFacts,
  links,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const own = receptacles('studio-3', 6, meshOfFour);
const healthy = healthyFacts('studio-3', own);
const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });
const thunderbolt = (changes: Partial<DesiredFleet['thunderbolt']>): Partial<DesiredFleet> => ({
  thunderbolt: { ...desiredFleet().thunderbolt, ...changes },
});
const blind = (values: Partial<FactValues>, ...names: readonly FactName[]): RackChanges => ({
  ...only(values),
  unknown: { 'studio-3': Object.fromEntries(names.map((name) => [name, 'timed-out' satisfies UnknownReason])) },
});
const stateOf = (changes: RackChanges): string | undefined =>
  surveyFleet(desiredFleet(), observedFleet(changes)).nodes.find(({ name }) => name === 'studio-3')?.bridge;

const bridge: NetworkInterface = {
  name: 'bridge0',
  isUp: true,
  mtuBytes: 1500,
  ipv4: [],
  ipv6: [],
  members: ['en3', 'en4', 'en5'],
};
const interfaces = [...healthy.interfaces.map((one) => ({ ...one, ipv4: one.name === 'en0' ? one.ipv4 : [] })), bridge];
const preferences = [{ name: 'bridge0', interfaces: ['en3', 'en4', 'en5'], auto: 'thunderbolt-bridge' }];
const service = { name: 'Thunderbolt Bridge', port: 'Thunderbolt Bridge', device: 'bridge0', isEnabled: true };

describe('the Thunderbolt Bridge', () => {
  const whole = only({ interfaces, 'bridge-preferences': preferences, 'network-services': [service] });

  it('is reported once with all three layers, and without the missing addresses that it causes', () => {
    expect(told(whole)).toEqual(['error bridge/active node studio-3']);
  });

  it('is switched off by its service name, unless the name is hostile', () => {
    const renamed = (name: string): string | undefined =>
      hintsOf('bridge/active', only({ interfaces, 'network-services': [{ ...service, name }] }))[0];
    expect(renamed('Thunderbolt-Brücke')).toContain('-setnetworkserviceenabled "Thunderbolt-Brücke" off');
    expect(renamed('a"; reboot; "')).not.toContain('reboot');
    expect(renamed('a"; reboot; "')).toContain('System Settings');
  });

  it('is reported as coming back when only the preferences contain it', () => {
    expect(told(only({ 'bridge-preferences': preferences }))).toEqual(['error bridge/comes-back node studio-3']);
  });

  it("is identified by macOS's mark or its service, not by name", () => {
    const others = [
      { name: 'bridge3', interfaces: ['en0'] },
      { name: 'bridge1', interfaces: ['en4'] },
      { name: 'bridge2', interfaces: ['en5'] },
    ];
    const hintWith = (values: Partial<FactValues>) => hintsOf('bridge/comes-back', only(values))[0];
    const marked = others.map((one) => (one.name === 'bridge1' ? { ...one, auto: 'thunderbolt-bridge' } : one));
    expect(hintWith({ 'bridge-preferences': marked })).toContain('VirtualNetworkInterfaces:Bridge:bridge1"');
    const services = [{ ...service, device: 'bridge2' }];
    const ofService = hintWith({ 'bridge-preferences': others, 'network-services': services });
    expect(ofService).toContain('VirtualNetworkInterfaces:Bridge:bridge2"');
  });

  it('never puts a hostile name into a suggested command', () => {
    const hostile = [{ name: 'bridge0"; reboot; "', interfaces: ['en4'], auto: 'thunderbolt-bridge' }];
    expect(hintsOf('bridge/comes-back', only({ 'bridge-preferences': hostile }))[0]).not.toContain('reboot');
  });

  it('is not confused with a bridge of other interfaces', () => {
    const vm = { ...bridge, name: 'bridge100', members: ['vmenet0'] };
    expect(told(only({ interfaces: [...healthy.interfaces, vm] }))).toEqual([]);
  });

  it('is reported despite bridge: keep only if RDMA is required', () => {
    const changes = only({ interfaces, 'bridge-preferences': preferences });
    expect(told(changes, thunderbolt({ bridge: 'keep' }))).toEqual(['error rdma/bridged node studio-3']);
  });

  it('is reported with the one cable that closes a ring of bridged Macs', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const values = Object.fromEntries(
      names.map((name) => {
        const facts = healthyFacts(name, receptacles(name, 6, meshOfFour));
        return [name, { interfaces: [...facts.interfaces.map((one) => ({ ...one, ipv4: [] })), bridge] }];
      }),
    );
    const ring = ['studio-1:2 <-> studio-2:2', 'studio-2:3 <-> studio-3:3', 'studio-1:3 <-> studio-3:2'];
    const found = told({ values, cables: ring }, thunderbolt({ links: links(ring), rdma: 'auto', bridge: 'keep' }));
    expect(found.filter((one) => one.includes('bridge/loop'))).toEqual([
      'error bridge/loop link studio-2:3 <-> studio-3:3',
    ]);
  });

  it('is reported as a ring when a cable joins a bridged Mac to itself', () => {
    const cables = ['studio-3:2 <-> studio-3:3'];
    const found = told({ values: { 'studio-3': { interfaces } }, cables }, thunderbolt({ links: [], bridge: 'keep' }));
    expect(found).toContain('error bridge/loop link studio-3:2 <-> studio-3:3');
  });
});

describe('a user-made bridge', () => {
  const made = {
    ...bridge,
    name: 'bridge1',
    members: ['en0', 'en7'],
    ipv4: [{ address: '192.168.1.13', prefixLength: 24 }],
  };
  const preferred = [{ name: 'bridge1', interfaces: ['en0', 'en7'] }];

  it('is shown with its members and address, without a delete command', () => {
    const changes = only({ interfaces: [...healthy.interfaces, made], 'bridge-preferences': preferred });
    expect(told(changes)).toEqual(['error bridge/receptacle-bridged node studio-3']);
  });

  it('comes back when only the preferences contain it', () => {
    const mine = { name: 'bridge1', interfaces: ['en3', 'en7'] };
    const lists = [[mine], [...preferences, mine], preferences, []];
    const states = lists.map((all) => stateOf(only({ 'bridge-preferences': all })));
    expect(states).toEqual(['comes-back', 'comes-back', 'comes-back', 'none']);
  });

  it('is never deleted, even if macOS created it', () => {
    const grown = [{ name: 'bridge0', interfaces: ['en0', 'en3'], auto: 'thunderbolt-bridge' }];
    const changes = only({ 'bridge-preferences': grown, 'network-services': [service] });
    expect(hintsOf('bridge/receptacle-bridged', changes)[0]).not.toMatch(/Delete|-setnetworkserviceenabled/);
  });

  it('includes bridges made only of receptacles, and those of Internet Sharing', () => {
    for (const name of ['bridge1', 'bridge100']) {
      const changes = only({ interfaces: [...healthy.interfaces, { ...made, name, members: ['en7'] }] });
      expect(told(changes)).toEqual(['error bridge/receptacle-bridged node studio-3']);
    }
  });

  it('counts as a bridge for RDMA on its receptacle', () => {
    const [first, ...rest] = healthy.interfaces.filter((one) => one.name !== 'en3');
    const en3 = healthy.interfaces.filter((one) => one.name === 'en3').map((one) => ({ ...one, ipv4: [] }));
    const all = [...(first ? [first] : []), ...rest, ...en3, { ...made, members: ['en0', 'en3'] }];
    expect(told(only({ interfaces: all }), thunderbolt({ bridge: 'keep' }))).toEqual([
      'error rdma/bridged node studio-3',
    ]);
  });
});

describe('a partly unknown Thunderbolt Bridge', () => {
  it('is not considered removed while the interfaces are unknown', () => {
    const changes = blind({ 'bridge-preferences': preferences }, 'interfaces');
    expect(told(changes)).toEqual([
      'warning bridge/perhaps-active node studio-3',
      'warning fact/unknown node studio-3',
    ]);
    expect(stateOf(changes)).toBe('unknown');
  });

  it('is not repaired by just a restart while its preferences are unknown', () => {
    const changes = blind({ interfaces }, 'bridge-preferences', 'network-services');
    expect(hintsOf('bridge/active', changes)[0]).toMatch(/^On studio-3, first check/);
  });

  it('is unknown when no port name mentions Thunderbolt', () => {
    const ports = healthy['hardware-ports'].map(({ port, device }) => ({
      port: port.replace('Thunderbolt', 'Anschluss'),
      device,
    }));
    const six = { ...bridge, members: ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'] };
    const changes = only({ 'hardware-ports': ports, interfaces: [...interfaces.slice(0, -1), six] });
    expect(stateOf(changes)).toBe('unknown');
    expect(told(changes)).toEqual(['warning fact/unknown node studio-3']);
    expect(stateOf(only({ ...changes.values?.['studio-3'], 'bridge-preferences': preferences }))).toBe('active');
  });

  it('is unknown when its members are missing from a truncated port list', () => {
    const ports = healthy['hardware-ports'].filter(({ device }) => !['en3', 'en4', 'en5'].includes(device));
    expect(stateOf(only({ 'hardware-ports': ports, interfaces }))).toBe('unknown');
  });
});

describe('cable moves on bridged Macs', () => {
  const missing = meshOfFour.slice(1);
  const hint = (changes: RackChanges, desired = {}): string | undefined =>
    hintsOf('cabling/missing', changes, desired)[0];
  const bridged = (name: string): Partial<FactValues> => {
    const facts = healthyFacts(name, receptacles(name, 6, missing));
    return { interfaces: [...facts.interfaces.map((one) => ({ ...one, ipv4: [] })), bridge] };
  };
  const put = 'connect studio-1 receptacle 2 and studio-2 receptacle 2 with a Thunderbolt 5 cable.';
  const first = (what: string): string => `First remove ${what}; then ${put}`;

  it('wait until the Thunderbolt Bridge is removed', () => {
    const values = { 'studio-1': bridged('studio-1'), 'studio-2': bridged('studio-2') };
    expect(hint({ cables: missing, values })).toBe(first('the Thunderbolt Bridge on studio-1 and studio-2'));
    const second = { 'studio-2': bridged('studio-2') };
    expect(hint({ cables: missing, values: second })).toBe(first('the Thunderbolt Bridge on studio-2'));
  });

  it('wait while a bridge is unknown or would come back', () => {
    const unknown = { 'studio-1': { 'bridge-preferences': 'failed' as const } };
    const onFirst = first('the Thunderbolt Bridge on studio-1 (its presence is unknown)');
    expect(hint({ cables: missing, unknown })).toBe(onFirst);
    const values = { 'studio-2': { 'bridge-preferences': preferences } };
    expect(hint({ cables: missing, values })).toBe(first('the Thunderbolt Bridge on studio-2'));
  });

  it('wait while a receptacle is in a user-made bridge', () => {
    const made = { ...bridge, name: 'bridge1', members: ['en0', 'en7'] };
    const facts = healthyFacts('studio-2', receptacles('studio-2', 6, missing));
    const values = { 'studio-2': { interfaces: [...facts.interfaces, made] } };
    expect(hint({ cables: missing, values })).toBe(first('the receptacles of studio-2 from their bridge'));
  });

  it('wait for bridge removal even before a swap', () => {
    const swapped = meshOfFour.map((text) =>
      text.replace(/studio-4:[23]/, (end) => (end === 'studio-4:2' ? 'studio-4:3' : 'studio-4:2')),
    );
    const found = hintsOf('cabling/elsewhere', { cables: swapped, values: { 'studio-4': bridged('studio-4') } });
    expect(found[0]).toBe(
      'First remove the Thunderbolt Bridge on studio-4; then swap the cable ends in studio-4 receptacles 2 and 3.',
    );
  });

  it('are refused under bridge: keep only if they close a ring', () => {
    const keep = (...texts: readonly string[]): Partial<DesiredFleet> =>
      thunderbolt({ bridge: 'keep', rdma: 'auto', links: links(texts) });
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const values = Object.fromEntries(names.map((name) => [name, bridged(name)]));
    const [one = '', two = '', , four = ''] = meshOfFour;
    expect(hint({ cables: [], values }, keep(one))).toBe(`C${put.slice(1)}`);
    expect(hint({ cables: [two, four], values }, keep(one, two, four))).toBe(
      `First remove the Thunderbolt Bridge on studio-1 and studio-2, or leave this cable unplugged: it closes a ring of bridged Macs, in which frames circle; then ${put}`,
    );
    expect(hint({ cables: [], values }, keep(one, two, four))).toMatch(/^First remove/);
    expect(hint({ cables: [two, four] }, keep(one, two, four))).toBe(`C${put.slice(1)}`);
  });
});

onOnePage('rules-bridge');
