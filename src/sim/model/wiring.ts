import { given } from '../../model/given.ts';
import { cableAt } from './cables.ts';
import { carriedSpeed, type InterfaceAddress, type MacState, macNamed, peerAt, type SimulatedFleet } from './fleet.ts';
import { ipv4Number } from './ip-text.ts';
import { liveAddress } from './network.ts';
import { isPortDead } from './rdma.ts';

export interface UsableAddresses {
  /** Its own addresses, on which it can listen. */
  readonly own: readonly string[];
  /** Addresses at the far ends of its cables, to which it can connect. */
  readonly far: readonly { readonly node: string; readonly address: string }[];
  /** The names of Macs in the office network, including its own. */
  readonly named?: UsableAddresses['far'];
}

const networkOf = ({ address, prefixLength }: InterfaceAddress): number =>
  Math.floor((ipv4Number(address) ?? Number.NaN) / 2 ** (32 - prefixLength));

/** Two addresses at the ends of one cable reach each other only if each is in the other's network. */
const isSameNetwork = (one: InterfaceAddress, other: InterfaceAddress): boolean =>
  one.prefixLength === other.prefixLength && networkOf(one) === networkOf(other) && one.address !== other.address;

/**
 * Computes the usable addresses only from cables, addresses and bridge. A pulled cable disconnects both ends, swapped
 * cables connect mismatched networks, bridged or lost addresses do not exist, and hung Macs and dead ports transfer
 * nothing.
 */
export function reachOf(fleet: SimulatedFleet, node: string): UsableAddresses {
  const mac = macNamed(fleet, node);
  if (mac === undefined) return { own: [], far: [] };
  const ends = mac.receptacles.flatMap((receptacle) => {
    const own = liveAddress(fleet, mac, receptacle);
    const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
    return own === undefined ? [] : [{ receptacle, own, peer }];
  });
  return {
    own: ends.map(({ own }) => own.address),
    far: ends.flatMap(({ receptacle, own, peer }) => {
      const far = peer === undefined ? undefined : liveAddress(fleet, peer.mac, peer.receptacle);
      if (peer === undefined || far === undefined || !isSameNetwork(own, far)) return [];
      // Ports, addresses and devices look healthy at both ends, but the cable transfers nothing.
      if (isPortDead(mac, receptacle) || isPortDead(peer.mac, peer.receptacle)) return [];
      return [{ node: peer.mac.name, address: far.address }];
    }),
  };
}

/** Also includes the office network, on which every Mac can reach every other; `named` are the names of the Macs. */
export function wholeReachOf(fleet: SimulatedFleet, node: string, named: UsableAddresses['far'] = []): UsableAddresses {
  const { own, far } = reachOf(fleet, node);
  const office = fleet.macs.map(({ name, lan }) => ({ node: name, address: lan.address }));
  const mine = office.find((one) => one.node === node);
  if (mine === undefined) return { own, far };
  return { own: [...own, mine.address], far: [...far, ...office.filter((one) => one !== mine)], named };
}

/** The interface at the far end of a receptacle's cable; undefined without a cable. */
function farOf(fleet: SimulatedFleet, mac: MacState, { number }: MacState['receptacles'][number]) {
  const end = { node: mac.name, receptacle: number };
  const cable = cableAt(fleet.cables, end);
  const peer = peerAt(fleet, end);
  if (cable === undefined || peer === undefined) return undefined;
  return { mac: peer.mac.name, device: peer.receptacle.device, gigabitsPerSecond: carriedSpeed(fleet, cable) };
}

/** Sorted by receptacle; undefined for an unknown name. */
export function wiringOf(fleet: SimulatedFleet, node: string) {
  const mac = macNamed(fleet, node);
  if (mac === undefined) return undefined;
  return {
    lan: { device: mac.lan.device, address: mac.lan.address },
    receptacles: mac.receptacles.map((receptacle) => ({
      device: receptacle.device,
      ...given({ address: liveAddress(fleet, mac, receptacle), far: farOf(fleet, mac, receptacle) }),
      /** Whether the cable transfers nothing although its port reports active. */
      isSilent: isPortDead(mac, receptacle),
    })),
  };
}

export type Wiring = NonNullable<ReturnType<typeof wiringOf>>;
