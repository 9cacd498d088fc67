import { ailing, type MacState, macNamed, peerAt, receptacleOf, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { liveAddress, type ServiceState, servicesIn, withService } from '../model/network.ts';
import { aims, defineFault, defineMacFault, type Fault } from './fault.ts';

const fixedServices = (mac: MacState, device: string): readonly ServiceState[] =>
  servicesIn(mac.preferences).filter((service) => service.device === device && service.ipv4.kind === 'manual');

/** Switches the fixed services of one interface to DHCP or off, as if configd had applied it. */
function withoutFixed(mac: MacState, device: string, kind: 'dhcp' | 'off'): MacState {
  const preferences = fixedServices(mac, device).reduce(
    (before, service) => withService(before, { ...service, ipv4: { kind } }),
    mac.preferences,
  );
  const { [device]: _, ...addresses } = mac.live.addresses;
  return { ...mac, preferences, live: { ...mac.live, addresses } };
}

/** The effect of one run of exo's daemon: no bridge, and every receptacle service on DHCP. */
export function underDaemon(mac: MacState): MacState {
  if (mac.ailments.networkDaemon !== 'fights') return mac;
  const { bridge: _, ...live } = mac.live;
  const bare = mac.live.bridge === undefined ? mac : { ...mac, live };
  const fixed = mac.receptacles.filter(({ device }) => fixedServices(mac, device).length > 0);
  return fixed.reduce((one, { device }) => withoutFixed(one, device, 'dhcp'), bare);
}

/** The receptacles in a target: `NODE:RECEPTACLE`, or all of `NODE`. */
const receptaclesOf = (mac: MacState, target: string): MacState['receptacles'] =>
  mac.receptacles.filter(({ number }) => !target.includes(':') || String(number) === target.split(':')[1]);

/** The parts of these receptacles that show a network fault. */
const shownAt =
  (part: (...at: Parameters<typeof liveAddress>) => unknown) =>
  (fleet: SimulatedFleet, target: string): unknown => {
    const mac = macNamed(fleet, target.split(':')[0] ?? '');
    return mac === undefined ? undefined : receptaclesOf(mac, target).map((one) => part(fleet, mac, one));
  };

/** Defines a fault of services with fixed addresses, on one cabled receptacle or on all of a Mac's. */
const defineServices = (summary: string, kind: 'dhcp' | 'off'): Fault =>
  defineFault(
    summary,
    aims.cables,
    (fleet, ends) => {
      const mac = macNamed(fleet, ends[0]?.node ?? '');
      const own = ends.map(({ receptacle }) => receptacle);
      const devices = (mac?.receptacles ?? []).filter(({ number }) => own.includes(number)).map(({ device }) => device);
      if (mac === undefined || devices.length === 0) return 'the Mac has no cable';
      if (devices.every((device) => fixedServices(mac, device).length === 0)) return 'no service has a fixed address';
      return withMac(fleet, mac.name, () => devices.reduce((one, device) => withoutFixed(one, device, kind), mac));
    },
    shownAt((_, mac, { device }) => fixedServices(mac, device).map(({ ipv4 }) => ipv4)),
  );

export const networkFaults = {
  /** exo was installed: its daemon sets the network at each boot and every 30 minutes, overriding other settings. */
  'daemon-conflict': defineMacFault(
    "exo's network daemon runs and keeps resetting every cable to DHCP",
    (mac) =>
      mac.ailments.networkDaemon === 'fights'
        ? 'the daemon is already running'
        : underDaemon(ailing(mac, { networkDaemon: 'fights' })),
    ({ ailments }) => ailments.networkDaemon === 'fights',
  ),

  'internet-sharing': defineFault(
    'the far Mac shares its Internet: this end gets a lease and a default route over the cable',
    aims.cables,
    (fleet, ends) => {
      const shared = ends.filter((end) => peerAt(fleet, end) !== undefined);
      if (shared.length === 0) return 'no Mac is at the far end';
      return shared.reduce((before, end) => {
        const peer = peerAt(before, end)?.mac.name ?? '';
        const far = withMac(before, peer, (mac) => ailing(mac, { isSharingInternet: true }));
        const withLease = (mac: MacState) => withoutFixed(mac, receptacleOf(mac, end.receptacle)?.device ?? '', 'dhcp');
        return withMac(far, end.node, withLease);
      }, fleet);
    },
    shownAt(liveAddress),
  ),

  /**
   * Observed after links were broken and restored, and after a cleanup in System Settings. The receptacles' services
   * use DHCP, no server answers, and each interface assigns itself an address.
   */
  'dhcp-reset': defineServices(
    'the services of its cables use DHCP again: each assigns itself a temporary address',
    'dhcp',
  ),

  /** A Mac prepared by RDMALink: its Thunderbolt services have only IPv6 link-local addresses. */
  'ipv4-off': defineServices(
    'IPv4 is off on its cables, as after RDMALink: no address, and no GID that MLX can use',
    'off',
  ),
};
