import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { Ipv4Address, Route } from '../../../../src/model/facts/fact-values.ts';
import { desiredFleet, healthyFacts, links, meshOfFour, type RackChanges, receptacles } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf, told } from './told.ts';

const node = 'studio-3';
const healthy = healthyFacts(node, receptacles(node, 6, meshOfFour));
const en3 = { name: 'Thunderbolt 2', port: 'Thunderbolt 2', device: 'en3', isEnabled: true };

const only = (values: Partial<FactValues>): RackChanges => ({ values: { [node]: values } });
const defaultBy = (device: string, flags = 'UGScIg'): Route => ({
  destination: { address: '0.0.0.0', prefixLength: 0 },
  gateway: '192.168.2.1',
  flags,
  device,
});

/** The service of receptacle 2 on DHCP, with this address on its interface. */
function onDhcp(address: Ipv4Address, more: Partial<FactValues> = {}): RackChanges {
  return only({
    'network-services': [...healthy['network-services'], en3],
    'service-addresses': [{ service: en3.name, device: 'en3', method: 'dhcp' }],
    interfaces: healthy.interfaces.map((one) => (one.name === 'en3' ? { ...one, ipv4: [address] } : one)),
    'rdma-ports': healthy['rdma-ports'].map((port) => {
      const gid = { index: 1, gid: `::ffff:${address.address}`, ipv4: address.address };
      return port.device === 'rdma_en3' ? { ...port, gids: [{ index: 0, gid: 'fe80::1' }, gid] } : port;
    }),
    ...more,
  });
}

const lease = { address: '192.168.2.7', prefixLength: 24 };
/** The DHCP lease of en3; `none` for no lease. */
const packet = (address = lease.address): Partial<FactValues> => ({
  'dhcp-leases': [
    { device: 'en3', ...(address === 'none' ? {} : { lease: { address, server: '192.168.2.1', seconds: 3_600 } }) },
  ],
});

/** A Mac that has the address of the DHCP server, on a bridge that Internet Sharing made. */
const sharingMac = (name: string, values: Partial<FactValues> = {}): Partial<FactValues> => {
  const { interfaces } = { ...healthyFacts(name, receptacles(name, 6, meshOfFour)), ...values };
  const [office] = interfaces.filter((one) => one.name === 'en0');
  const ipv4 = ['192.168.3.1', '192.168.2.1'].map((address) => ({ address, prefixLength: 24 }));
  const bridge = { ...office, name: 'bridge100', ipv4 };
  return { ...values, interfaces: [...interfaces, bridge as (typeof interfaces)[number]] };
};
const noPool: Partial<DesiredFleet> = {
  thunderbolt: {
    bridge: 'remove',
    rdma: 'auto',
    avoid: [],
    links: links(meshOfFour),
    networks: {},
    formerNetworks: [],
  },
};

describe('a default route over a cable', () => {
  it('is reported with the gateway, and with the DHCP server if that assigned the address', () => {
    const routes = [defaultBy('en0', 'UGScg'), defaultBy('en3')];
    for (const leases of [{}, packet()]) {
      expect(told(onDhcp(lease, { routes, ...leases }))).toEqual([
        'error network/default-route-over-cable receptacle studio-3:2',
      ]);
    }
  });

  it('is reported as the active one if no other interface has one', () => {
    const [finding] = findingsOf(onDhcp(lease, { routes: [defaultBy('en3', 'UGScg')] }));
    expect(finding?.detail).toContain('which is the one in effect');
  });

  it('is reported at an undeclared receptacle, with a hint for the other Mac only', () => {
    const changes = only({ routes: [defaultBy('en6')] });
    expect(told(changes)).toEqual(['error network/default-route-over-cable receptacle studio-3:5']);
  });

  it('is reported over a bridge of receptacles that the file keeps', () => {
    const bridge0 = { name: 'bridge0', isUp: true, mtuBytes: 1_500, ipv4: [], ipv6: [], members: ['en6', 'en7'] };
    const routes = [defaultBy('bridge0', 'UGScg'), defaultBy('en0')];
    const thunderbolt = { ...desiredFleet().thunderbolt, bridge: 'keep' } as const;
    const changes = { ...only({ routes, interfaces: [...healthy.interfaces, bridge0] }) };
    const [finding] = findingsOf(changes, { thunderbolt });
    expect(finding).toMatchObject({ code: 'network/default-route-over-cable', severity: 'warning' });
    expect(finding?.detail).toContain('bridge0, the bridge of en6, en7, has a default route via 192.168.2.1, which is');
  });

  it('is not confused with one over Ethernet, a VPN or an unknown interface', () => {
    for (const device of ['en0', 'utun4', 'en9']) expect(told(only({ routes: [defaultBy(device)] }))).toEqual([]);
    const unknown = { [node]: { 'hardware-ports': 'empty' as const } };
    expect(told({ ...only({ routes: [defaultBy('en3')] }), unknown })).toEqual([`warning fact/unknown node ${node}`]);
  });
});

describe('the network service order', () => {
  const service = (name: string, device: string, isEnabled = true) => ({ name, port: name, device, isEnabled });
  const ordered = (...services: readonly FactValues['network-services'][number][]): RackChanges =>
    only({ 'network-services': services });

  it('causes a warning if a cable comes before the office network', () => {
    const [first, second] = [service('Thunderbolt 2', 'en3'), service('Thunderbolt Bridge', 'bridge0', false)];
    const changes = ordered(first, second, service('Ethernet', 'en0'));
    expect(told(changes)).toEqual(['warning network/service-order node studio-3']);
  });

  it('is right if only disabled services follow the cables, or if there is no pool', () => {
    const right = [service('Ethernet', 'en0'), service('Thunderbolt 2', 'en3'), service('Wi-Fi', 'en1', false)];
    expect(told(ordered(...right))).toEqual([]);
    expect(told(ordered(service('Thunderbolt 2', 'en3'), service('Ethernet', 'en0')), noPool)).toEqual([]);
  });
});

describe('a Mac without full disk access for ssh sessions', () => {
  const refused = { files: [], isLoaded: true, isRefused: true };
  const kept: Partial<DesiredFleet> = {
    system: { wiredLimit: { kind: 'auto' }, fileVault: 'any', accounts: {}, keeper: 'auto' },
  };
  const service = (name: string, device: string) => ({ name, port: name, device, isEnabled: true });

  it('causes a warning that names the switch and the blocked change', () => {
    const services = [service('Thunderbolt 2', 'en3'), service('Ethernet', 'en0')];
    const changes = only({ keeper: refused, 'network-services': services });
    expect(told(changes, kept)).toEqual(['warning network/no-full-disk-access node studio-3']);
  });

  it('is reported in place of DHCP services and a leftover bridge service, if the keeper is on', () => {
    const bridge = { name: 'Thunderbolt Bridge', port: 'Thunderbolt Bridge', device: 'bridge0', isEnabled: true };
    const services = [service('Ethernet', 'en0'), service('Thunderbolt 2', 'en3'), bridge];
    const addresses = [{ service: 'Thunderbolt 2', device: 'en3', method: 'dhcp' as const }];
    const changes = { 'network-services': services, 'service-addresses': addresses };
    expect(told(only({ ...changes, keeper: refused }), kept)).toEqual([
      expect.stringContaining('warning network/no-full-disk-access'),
    ]);
    expect(told(only({ ...changes, keeper: refused }))).toEqual(told(only(changes)));
    const before = told(only(changes));
    expect(before).toContain(`error bridge/comes-back node ${node}`);
    expect(before).toContain(`warning network/suspected-lease receptacle ${node}:2`);
  });
});

describe("a cable's address", () => {
  it('causes a warning that names the DHCP server if it is a lease', () => {
    expect(told(onDhcp(lease, packet()))).toEqual(['warning network/lease-over-cable receptacle studio-3:2']);
  });

  it.each([
    ["the Mac at the far end if it has the DHCP server's address", ['studio-1', 'studio-2'], ' (studio-1)'],
    ["no Mac if only other Macs have the DHCP server's address", ['studio-2', 'studio-3'], ''],
  ])('is reported with %s', (_, sharing, name) => {
    const changes = onDhcp(lease, packet());
    const values = Object.fromEntries(sharing.map((one) => [one, sharingMac(one, changes.values?.[one])]));
    const found = findingsOf({ values: { ...changes.values, ...values } });
    const [finding] = found.filter(({ code }) => code === 'network/lease-over-cable');
    expect(finding?.detail).toContain(`by the DHCP server 192.168.2.1${name}.`);
  });

  it('is reported as a lease even if the service method is unknown', () => {
    const unknown = { [node]: { 'service-addresses': 'garbled' as const } };
    expect(told({ ...onDhcp(lease, packet()), unknown }).join()).toContain('network/lease-over-cable');
  });

  it.each([
    ['no lease exists', 'none'],
    ['the lease has a different address', '192.168.2.9'],
  ])('is not reported as a lease if %s', (_, address) => {
    expect(told(onDhcp(lease, packet(address)))).toEqual(['error address/by-dhcp node studio-3']);
    expect(told(onDhcp(lease, packet(address)), noPool)).toEqual([]);
  });

  it('is reported as a suspected lease if its DHCP packet is unknown', () => {
    const unknown = { [node]: { 'dhcp-leases': 'failed' as const } };
    for (const changes of [onDhcp(lease), { ...onDhcp(lease, packet()), unknown }]) {
      expect(told(changes)).toEqual(['warning network/suspected-lease receptacle studio-3:2']);
    }
  });

  it('causes a node error if macOS chose it and the file sets a fixed one', () => {
    const changes = onDhcp({ address: '169.254.31.7', prefixLength: 16 });
    expect(told(changes)).toEqual(['error address/by-dhcp node studio-3']);
  });

  it('is not reported as a lease if the keeper set it as declared', () => {
    const pool = { address: '10.77.0.0', prefixLength: 24 };
    const network = { address: '10.77.0.4', prefixLength: 30 };
    const settled = { thunderbolt: { ...desiredFleet().thunderbolt, pool, networks: { 1: network } } };
    const at = (address: string) => told(onDhcp({ address, prefixLength: 30 }), settled);
    expect(at('10.77.0.6')).toEqual(['error address/by-dhcp node studio-3']);
    expect(at('10.77.0.5')).toEqual(['warning network/suspected-lease receptacle studio-3:2']);
  });

  it('is not reported if macOS chose it and the file sets none', () => {
    const codes = told(onDhcp({ address: '169.254.31.7', prefixLength: 16 }), noPool);
    expect(codes.filter((one) => one.includes('by-dhcp'))).toEqual([]);
  });

  it('is not reported while its service method is unknown and no lease was read', () => {
    const unknown = { [node]: { 'service-addresses': 'garbled' as const } };
    expect(told({ ...onDhcp(lease), unknown })).toEqual([`warning fact/unknown node ${node}`]);
  });
});

describe('a Mac prepared for RDMA over IPv6 only', () => {
  const bare = only({
    'network-services': [...healthy['network-services'], en3],
    'service-addresses': [{ service: en3.name, device: 'en3', method: 'off' }],
    interfaces: healthy.interfaces.map((one) => (one.name === 'en3' ? { ...one, ipv4: [] } : one)),
  });

  it('is reported as address/ipv4-off and not as a missing address', () => {
    const errors = told(bare).filter((one) => one.startsWith('error'));
    expect(errors).toEqual(['error address/ipv4-off node studio-3']);
  });

  it('causes only a notice if nothing needs RDMA and the file has no pool', () => {
    expect(told(bare, noPool).filter((one) => one.includes('ipv4-off'))).toEqual([
      'notice address/ipv4-off node studio-3',
    ]);
  });
});

onOnePage('rules-cable-addresses');
