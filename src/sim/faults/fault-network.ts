import {
  type MacState,
  macNamed,
  peerAt,
  type ReceptacleState,
  receptacleOf,
  type SimulatedFleet,
  withMac,
} from '../model/fleet.ts';
import { liveAddress, type NetworkService, servicesIn, withService } from '../model/network.ts';
import { aims, defineFault, defineMacFault, type Fault } from './fault.ts';

/** The services of one receptacle that have a fixed address. */
const fixedServices = (mac: MacState, device: string): readonly NetworkService[] =>
  servicesIn(mac.preferences).filter((service) => service.device === device && service.ipv4.kind === 'manual');

/** The Mac with the fixed services of one interface on DHCP again or off, as configd then sets it up. */
function withoutFixed(mac: MacState, device: string, kind: 'dhcp' | 'off'): MacState {
  const preferences = fixedServices(mac, device).reduce(
    (before, service) => withService(before, { ...service, ipv4: { kind } }),
    mac.preferences,
  );
  const { [device]: _, ...addresses } = mac.live.addresses;
  return { ...mac, preferences, live: { ...mac.live, addresses } };
}

/** What exo's daemon does each time: no bridge, and every service of a receptacle on DHCP. */
export function underDaemon(mac: MacState): MacState {
  if (mac.ailments.networkDaemon !== 'fights') return mac;
  const { bridge: _, ...live } = mac.live;
  const bare = mac.live.bridge === undefined ? mac : { ...mac, live };
  const fixed = mac.receptacles.filter(({ device }) => fixedServices(mac, device).length > 0);
  return fixed.reduce((one, { device }) => withoutFixed(one, device, 'dhcp'), bare);
}

const sharing = (mac: MacState): MacState => ({ ...mac, ailments: { ...mac.ailments, isSharingInternet: true } });

/** The receptacles that a target names: `NODE:RECEPTACLE`, or all of `NODE`. */
const receptaclesOf = (mac: MacState, target: string): MacState['receptacles'] =>
  mac.receptacles.filter(({ number }) => !target.includes(':') || String(number) === target.split(':')[1]);

/** What these receptacles show of such a fault. */
const shownAt =
  (part: (fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState) => unknown) =>
  (fleet: SimulatedFleet, target: string): unknown => {
    const mac = macNamed(fleet, target.split(':')[0] ?? '');
    return mac === undefined ? undefined : receptaclesOf(mac, target).map((one) => part(fleet, mac, one));
  };

/** A fault of the services that have a fixed address, of one cabled receptacle or of all of a Mac. */
const defineServices = (summary: string, kind: 'dhcp' | 'off'): Fault =>
  defineFault(
    summary,
    aims.cables,
    (fleet, ends) => {
      const mac = macNamed(fleet, ends[0]?.node ?? '');
      const own = ends.map(({ receptacle }) => receptacle);
      const devices = (mac?.receptacles ?? []).filter(({ number }) => own.includes(number)).map(({ device }) => device);
      if (mac === undefined || devices.length === 0) return 'it has no cable';
      if (devices.every((device) => fixedServices(mac, device).length === 0)) return 'none has a fixed address';
      return withMac(fleet, mac.name, () => devices.reduce((one, device) => withoutFixed(one, device, kind), mac));
    },
    shownAt((_, mac, { device }) => fixedServices(mac, device).map(({ ipv4 }) => ipv4)),
  );

/** What is wrong with the network of a Mac. */
export const networkFaults = {
  /** Somebody installed exo: its daemon sets the network at each start and every half an hour, whoever set it before. */
  'daemon-conflict': defineMacFault(
    "exo's network daemon runs: again and again every cable is put back on DHCP",
    (mac) =>
      mac.ailments.networkDaemon === 'fights'
        ? 'it runs already'
        : underDaemon({ ...mac, ailments: { ...mac.ailments, networkDaemon: 'fights' } }),
    ({ ailments }) => ailments.networkDaemon === 'fights',
  ),

  /** Somebody switched Internet Sharing on at the far end, and this end takes what DHCP gives. */
  'internet-sharing': defineFault(
    'the Mac at the far end shares its Internet: a lease and a default route come over the cable',
    aims.cables,
    (fleet, ends) => {
      const shared = ends.filter((end) => peerAt(fleet, end) !== undefined);
      if (shared.length === 0) return 'no Mac is at the far end';
      return shared.reduce((before, end) => {
        const far = withMac(before, peerAt(before, end)?.mac.name ?? '', sharing);
        return withMac(far, end.node, (mac) =>
          withoutFixed(mac, receptacleOf(mac, end.receptacle)?.device ?? '', 'dhcp'),
        );
      }, fleet);
    },
    shownAt(liveAddress),
  ),

  /**
   * What was seen after links were broken and made again, and after somebody cleaned up in System Settings: the services
   * of the receptacles are on DHCP, where nobody answers, and each interface has given itself an address.
   */
  'dhcp-reset': defineServices(
    'the services of its cables are back on DHCP: each gives itself an address, and none that lasts',
    'dhcp',
  ),

  /** A Mac that RDMALink has prepared: its Thunderbolt services have IPv6 link-local addresses alone. */
  'ipv4-off': defineServices(
    'IPv4 is off on its cables, as RDMALink prepares a Mac: no address and no GID that MLX can use',
    'off',
  ),
};
