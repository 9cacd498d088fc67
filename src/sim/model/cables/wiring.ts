import { linkSpeed, macNamed, peerAt, type SimulatedFleet } from '../fleet.ts';
import { type LiveAddress, liveAddress } from '../interfaces.ts';
import type { MacState, ReceptacleState } from '../mac.ts';
import { cableAt } from './cables.ts';
import { isPortDead } from './rdma.ts';

/** One receptacle of a Mac as a network sees it. */
export interface WiredReceptacle {
  /** The interface, such as `en3`. */
  readonly device: string;
  readonly address?: LiveAddress;
  /** The interface at the far end of its cable; absent when none is plugged in. */
  readonly far?: { readonly mac: string; readonly device: string; readonly gigabitsPerSecond: number };
  /** Whether nothing comes through it though its port says active. */
  readonly isSilent: boolean;
}

/** How a Mac is connected at this moment. */
export interface Wiring {
  /** Towards the office network. */
  readonly lan: { readonly device: string; readonly address: string };
  /** Sorted by number. */
  readonly receptacles: readonly WiredReceptacle[];
}

function farOf(fleet: SimulatedFleet, mac: MacState, { number }: ReceptacleState): Pick<WiredReceptacle, 'far'> {
  const end = { node: mac.name, receptacle: number };
  const cable = cableAt(fleet.cables, end);
  const peer = peerAt(fleet, end);
  if (cable === undefined || peer === undefined) return {};
  const gigabitsPerSecond = linkSpeed(fleet, cable);
  return { far: { mac: peer.mac.name, device: peer.receptacle.device, gigabitsPerSecond } };
}

/** The interfaces, addresses and cables of the Mac that belongs to this node; undefined for a name that is not there. */
export function wiringOf(fleet: SimulatedFleet, node: string): Wiring | undefined {
  const mac = macNamed(fleet, node);
  if (mac === undefined) return undefined;
  return {
    lan: { device: mac.lan.device, address: mac.lan.address },
    receptacles: mac.receptacles.map((receptacle) => {
      const address = liveAddress(fleet, mac, receptacle);
      const far = farOf(fleet, mac, receptacle);
      const isSilent = isPortDead(mac, receptacle);
      return { device: receptacle.device, ...(address !== undefined && { address }), ...far, isSilent };
    }),
  };
}
