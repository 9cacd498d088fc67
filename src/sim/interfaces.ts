import { peerAt, type SimulatedFleet } from './fleet.ts';
import type { MacState, ReceptacleState } from './mac.ts';

/** An IPv4 address that an interface has right now. */
export interface LiveAddress {
  readonly address: string;
  readonly prefixLength: number;
}

/** Whether something answers at the far end of this receptacle's cable. */
export const isCabled = (fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean =>
  peerAt(fleet, { node: mac.name, receptacle: receptacle.number }) !== undefined;

/**
 * The IPv4 address that the interface of a receptacle has at this moment: none without a cable, none while it is a
 * member of the bridge (a bridged member holds no address, Apple TN3205).
 */
export function liveAddress(
  fleet: SimulatedFleet,
  mac: MacState,
  receptacle: ReceptacleState,
): LiveAddress | undefined {
  if (mac.bridge.hasInterface || receptacle.hasLostAddress || !isCabled(fleet, mac, receptacle)) return undefined;
  const { config } = receptacle;
  return config.kind === 'manual' ? config : { address: config.selfAssigned, prefixLength: 16 };
}

/** The address that macOS gives the Thunderbolt Bridge by itself, once one of its members has a cable. */
export function bridgeAddress(fleet: SimulatedFleet, mac: MacState): LiveAddress | undefined {
  const [first] = mac.receptacles;
  const isActive = mac.receptacles.some((receptacle) => isCabled(fleet, mac, receptacle));
  if (first === undefined || !isActive || !mac.bridge.hasInterface) return undefined;
  return { address: `169.254.${domainOctet(first, 0)}.${domainOctet(first, 2)}`, prefixLength: 16 };
}

/** An octet from 1 to 254 that stays the same for the Mac. */
const domainOctet = ({ domainUuid }: ReceptacleState, at: number): number =>
  1 + (Number.parseInt(domainUuid.slice(at, at + 2), 16) % 254);

/** One network service of the preferences, in the order in which macOS tries them. */
export interface ServiceState {
  readonly name: string;
  readonly port: string;
  readonly device: string;
  readonly isEnabled: boolean;
  readonly receptacle?: ReceptacleState;
}

/**
 * The network services of a Mac. While the bridge is untouched macOS has one service for it and none for the
 * receptacles; after it was removed there is one per receptacle.
 */
export function servicesOf(mac: MacState): readonly ServiceState[] {
  const { bridge } = mac;
  const plain = mac.ports.filter((port) => port.kind !== 'adapter');
  const services = plain.map(({ port, device }) => ({ name: port, port, device, isEnabled: true }));
  const bridged: readonly ServiceState[] =
    bridge.service === 'absent'
      ? []
      : [{ name: bridgePort, port: bridgePort, device: 'bridge0', isEnabled: bridge.service === 'enabled' }];
  const single = mac.hasReceptacleServices ? mac.receptacles : [];
  return [
    ...services,
    ...bridged,
    ...single.map((receptacle) => ({
      name: receptaclePort(receptacle),
      port: receptaclePort(receptacle),
      device: receptacle.device,
      isEnabled: true,
      receptacle,
    })),
  ];
}

/** What macOS calls the bridge as a port and as a service. */
export const bridgePort = 'Thunderbolt Bridge';

/** What macOS calls a receptacle as a network port: `Thunderbolt 2`. */
export const receptaclePort = (receptacle: ReceptacleState): string => `Thunderbolt ${receptacle.number}`;
