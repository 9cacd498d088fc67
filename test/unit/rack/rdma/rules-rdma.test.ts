import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { RdmaPort } from '../../../../src/model/facts/rdma.ts';
import { desiredFleet, healthyFacts, links, meshOfFour, type RackChanges, receptacles } from '../../../rack/rack.ts';
import { findingsOf, hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const own = receptacles('studio-3', 6, meshOfFour);
const healthy = healthyFacts('studio-3', own);
const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });
const thunderbolt = (changes: Partial<DesiredFleet['thunderbolt']>): Partial<DesiredFleet> => ({
  thunderbolt: { ...desiredFleet().thunderbolt, ...changes },
});
const disabled: Partial<FactValues> = { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] };

/** The RDMA ports of studio-3 with one changed. */
const ports = (device: string, change: (port: RdmaPort) => RdmaPort): readonly RdmaPort[] =>
  healthy['rdma-ports'].map((port) => (port.device === device ? change(port) : port));

describe('RDMA findings', () => {
  it('report only hardware without Thunderbolt 5, whatever rdma_ctl prints', () => {
    const hardware = { model: 'Mac16,10', chip: 'Apple M4', memoryBytes: 2 ** 39 };
    expect(told(only({ hardware, 'rdma-devices': [] }))).toEqual(['error rdma/no-thunderbolt-5 node studio-3']);
    expect(told(only({ hardware, ...disabled }))).toEqual(['error rdma/no-thunderbolt-5 node studio-3']);
  });

  it('distinguish off, on but restart pending, and on with devices on macOS 27', () => {
    const macos = { 'macos-version': { version: '27.0', build: '26A428' } } as const;
    const accept = { macos: {} };
    const found = (values: Partial<FactValues>, unknown: RackChanges['unknown'] = {}) =>
      told({ ...only({ ...macos, ...values }), unknown }, accept).filter((one) => one.includes(' rdma/'));
    expect(found({ ...disabled, 'rdma-switch': 'off' })).toEqual(['error rdma/disabled node studio-3']);
    expect(found({ ...disabled, 'rdma-switch': 'on' })).toEqual(['error rdma/restart-pending node studio-3']);
    expect(found({ 'rdma-devices': [], 'rdma-ports': [] })).toEqual(['error rdma/restart-pending node studio-3']);
    expect(found({})).toEqual([]);
    // Switched off after the last boot: RDMA works until the next boot.
    expect(found({ 'rdma-switch': 'off' })).toEqual(['warning rdma/off-after-restart node studio-3']);
    // The switch is the second source if rdma_ctl does not answer. Without both, the state is unknown.
    const silent = { 'studio-3': { 'rdma-state': 'timed-out' } } as const;
    expect(found({ 'rdma-devices': [], 'rdma-ports': [] }, silent)).toEqual([
      'error rdma/restart-pending node studio-3',
    ]);
    // Apple does not document the rdma_ctl output before the restart, so it is not enough evidence.
    const unread = { 'studio-3': { 'rdma-switch': 'timed-out' } } as const;
    expect(found(disabled, unread)).toEqual([]);
    const both = { 'studio-3': { 'rdma-state': 'timed-out', 'rdma-switch': 'timed-out' } } as const;
    expect(found({ 'rdma-devices': [], 'rdma-ports': [] }, both)).toEqual([]);
  });

  it('attribute an RDMA device on a Thunderbolt 4 Mac to a modified driver', () => {
    const hardware = { model: 'Mac16,10', chip: 'Apple M4', memoryBytes: 2 ** 39 };
    const devices = [{ name: 'rdma_en2', guid: 'c03b3b8fe481ac05' }];
    const found = told(only({ hardware, 'rdma-devices': devices }), thunderbolt({ rdma: 'auto' }));
    expect(found).toContain('warning rdma/no-thunderbolt-5 node studio-3');
  });

  it('detect Thunderbolt 4 by the maximum speed of free receptacles', () => {
    const old = own.map((one) =>
      one.state === 'empty' ? { ...one, maxBitsPerSecond: 40e9 } : { ...one, linkBitsPerSecond: 40e9 },
    );
    const codes = findingsOf(only({ thunderbolt: old, ...disabled })).map((one) => one.code);
    expect(codes).toContain('rdma/no-thunderbolt-5');
    expect(codes).not.toContain('rdma/disabled');
  });

  it('report only macOS-too-old before 26.2, without facts that need the missing tools', () => {
    const macos = { version: '26.5', accept: '>=26.1' };
    const old = { 'macos-version': { version: '26.1', build: '25B78' } };
    const values = Object.fromEntries(['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => [name, old]));
    const facts = ['rdma-state', 'rdma-devices', 'rdma-ports'] as const;
    const missing = Object.fromEntries(facts.map((fact) => [fact, 'tool-missing' as const]));
    const found = told({ values, unknown: { 'studio-3': missing } }, { macos });
    const errors = found.filter((one) => one.includes('studio-3') && !one.startsWith('notice'));
    expect(errors).toEqual(['error rdma/macos-too-old node studio-3']);
  });

  it('do not blame neighbors whose ports are down because RDMA is disabled on a node', () => {
    const neighbour = healthyFacts('studio-1', receptacles('studio-1', 6, meshOfFour))['rdma-ports'];
    const down = neighbour.map((port) => (port.device === 'rdma_en4' ? { ...port, state: 'down' as const } : port));
    const changes = { values: { 'studio-3': disabled, 'studio-1': { 'rdma-ports': down } } };
    expect(told(changes)).toEqual(['error rdma/disabled node studio-3']);
  });

  it('report missing devices, not disabled RDMA, if RDMA is enabled but lacks one or all devices', () => {
    const devices = healthy['rdma-devices'].filter(({ name }) => name !== 'rdma_en4');
    for (const values of [{ 'rdma-devices': [], 'rdma-ports': [] }, { 'rdma-devices': devices }]) {
      expect(told(only(values))).toEqual(['error rdma/no-device node studio-3']);
    }
  });

  const down = only({ 'rdma-ports': ports('rdma_en4', (port) => ({ ...port, state: 'down' })) });

  it('report a port that is down, even if the RDMA state of its far end is unknown', () => {
    expect(told(down)).toEqual(['error rdma/port-down node studio-3']);
    const unknown = { 'studio-2': { 'rdma-state': 'timed-out' as const } };
    expect(told({ ...down, unknown })).toContain('error rdma/port-down node studio-3');
  });

  it('name one restart for all Macs whose ports are down on one end only', () => {
    // As in public notes about four Mac Studios of 2026-01-30: each cable has a port that is down at one end.
    const lost = { 'studio-1': ['rdma_en3', 'rdma_en4', 'rdma_en5'], 'studio-3': ['rdma_en3', 'rdma_en5'] };
    const values = Object.entries({ ...lost, 'studio-4': ['rdma_en4'] }).map(([name, devices]) => {
      const seen = healthyFacts(name, receptacles(name, 6, meshOfFour))['rdma-ports'];
      const state = (device: string) => (devices.includes(device) ? ('down' as const) : ('active' as const));
      return [name, { 'rdma-ports': seen.map((port) => ({ ...port, state: state(port.device) })) }];
    });
    const changes: RackChanges = { values: Object.fromEntries(values) };
    expect(told(changes).map((one) => one.split(' ')[1])).toEqual(Array(3).fill('rdma/port-down'));
    expect([...new Set(hintsOf('rdma/port-down', changes))]).toEqual([
      'Restart 4 Macs with one command, which covers all ports between them:\n  meshwright reboot studio-1 studio-2 studio-3 studio-4',
    ]);
  });

  it('do not report a port that is down while its far end is unreachable', () => {
    expect(told({ ...down, unreachable: ['studio-2'] })).toEqual([]);
  });

  const withoutAddress = (...names: readonly string[]) =>
    healthy.interfaces.map((one) => (names.includes(one.name) ? { ...one, ipv4: [] } : one));

  it('report all receptacles without an address together, but not their missing GIDs', () => {
    const interfaces = withoutAddress('en3', 'en5');
    const changes = only({ interfaces, 'rdma-ports': ports('rdma_en3', (port) => ({ ...port, gids: [] })) });
    expect(told(changes)).toEqual(['error rdma/no-address node studio-3']);
  });

  it('suggest setting addresses by service name: with a network, with a pool and without a pool', () => {
    const interfaces = withoutAddress('en3', 'en4', 'en5');
    const services = [
      { name: 'Kabel links', port: 'Thunderbolt 2', device: 'en3', isEnabled: true },
      { name: 'x"; reboot; "', port: 'Thunderbolt 3', device: 'en4', isEnabled: true },
    ];
    const changes = only({ interfaces, 'network-services': services });
    const { pool: _pool, ...withoutPool } = desiredFleet().thunderbolt;
    const networks = { 1: { address: '10.77.0.4', prefixLength: 30 } };
    for (const desired of [thunderbolt({ networks }), {}, { thunderbolt: withoutPool }]) {
      expect(hintsOf('rdma/no-address', changes, desired)).toHaveLength(1);
    }
  });

  it('report a mapped GID that is missing or belongs to a previous address', () => {
    const without = only({ 'rdma-ports': ports('rdma_en3', (port) => ({ ...port, gids: port.gids.slice(0, 1) })) });
    expect(told(without)).toEqual(['error rdma/no-gid node studio-3']);
    const stale = { index: 1, gid: '::ffff:169.254.1.1', ipv4: '169.254.1.1' };
    expect(told(only({ 'rdma-ports': ports('rdma_en3', (port) => ({ ...port, gids: [stale] })) }))).toEqual([
      'error rdma/no-gid node studio-3',
    ]);
  });

  it('report any port state other than active', () => {
    const changes = only({ 'rdma-ports': ports('rdma_en4', (port) => ({ ...port, state: 'other' })) });
    expect(told(changes)).toEqual(['error rdma/port-not-active node studio-3']);
  });

  it('report an interface that is down, but not its missing address', () => {
    const interfaces = healthy.interfaces.map((one) => (one.name === 'en4' ? { ...one, isUp: false, ipv4: [] } : one));
    expect(told(only({ interfaces }))).toEqual(['error rdma/interface-down node studio-3']);
  });

  it('ignore receptacles whose cable does not match the file', () => {
    const found = told({ cables: meshOfFour.slice(1) });
    expect(found).toEqual(['error cabling/missing link studio-1:2 <-> studio-2:2']);
  });

  it('are only notices when nothing in the file needs RDMA', () => {
    expect(told(only(disabled), thunderbolt({ rdma: 'auto' }))).toEqual(['notice rdma/disabled node studio-3']);
  });

  it('are empty for a node without links', () => {
    const elsewhere = thunderbolt({ links: links(['studio-1:2 <-> studio-2:2']) });
    expect(told(only(disabled), elsewhere).filter((one) => one.includes('rdma/'))).toEqual([]);
  });
});

describe('the address pool', () => {
  const withAddress = (name: string, address: string, prefixLength: number): RackChanges =>
    only({
      interfaces: healthy.interfaces.map((one) =>
        one.name === name ? { ...one, ipv4: [{ address, prefixLength }] } : one,
      ),
    });

  const thunderbolt = {
    ...desiredFleet().thunderbolt,
    networks: { 0: { address: '10.77.0.0', prefixLength: 30 }, 1: { address: '10.77.0.4', prefixLength: 30 } },
  };

  it('causes an error when its overlap with the office network leaves no room for links', () => {
    expect(told(withAddress('en0', '10.77.3.4', 16))).toEqual(['error address/pool-overlap node studio-3']);
    expect(told(withAddress('en0', '10.77.0.77', 30))).toEqual([]);
    expect(told(withAddress('en0', '10.77.1.1', 24))).toEqual([]);
  });

  it("causes an error when a route leaves too few networks, except a VPN's default route", () => {
    const route = (address: string, prefixLength: number, device = 'utun3'): RackChanges =>
      only({ routes: [{ destination: { address, prefixLength }, gateway: '10.8.0.1', flags: 'UGSc', device }] });
    expect(told(route('10.0.0.0', 8))).toEqual(['error address/pool-overlap node studio-3']);
    const others = [route('0.0.0.0', 1), route('0.0.0.0', 0), route('10.78.0.0', 16), route('10.77.0.128', 25, 'en0')];
    const local = [route('10.77.0.0', 30, 'lo0'), route('10.77.0.0', 30, 'en3')];
    for (const other of [...others, ...local]) expect(told(other)).toEqual([]);
  });

  it('causes an error only when the office network overlaps a network assigned to a link', () => {
    const found = (address: string) => told(withAddress('en0', address, 30), { thunderbolt });
    expect([found('10.77.0.6'), found('10.77.0.9')]).toEqual([['error address/pool-overlap node studio-3'], []]);
  });

  it('is reported once when both an address and its route overlap', () => {
    const changes = withAddress('en0', '10.77.3.4', 16);
    const routes = [
      { destination: { address: '10.77.0.0', prefixLength: 16 }, gateway: 'link#4', flags: 'UCS', device: 'en0' },
    ];
    const both = { values: { 'studio-3': { ...changes.values?.['studio-3'], routes } } };
    expect(told(both)).toEqual(['error address/pool-overlap node studio-3']);
  });

  it('may overlap addresses on Thunderbolt receptacles', () => {
    expect(told(withAddress('en7', '10.77.0.1', 30))).toEqual([]);
  });

  it('is not checked while the receptacle interfaces are unknown', () => {
    const unknown = { 'studio-3': { 'hardware-ports': 'empty' as const } };
    expect(told({ ...withAddress('en0', '10.77.3.4', 16), unknown })).toEqual(['warning fact/unknown node studio-3']);
  });
});

onOnePage('rules-rdma');
