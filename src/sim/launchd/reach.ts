import { isPortDead } from '../model/cables/rdma.ts';
import { macNamed, peerAt, type SimulatedFleet } from '../model/fleet.ts';
import { type LiveAddress, liveAddress } from '../model/interfaces.ts';
import { ipv4Number } from '../model/ip-text.ts';

/** Which addresses a Mac can use at this moment. */
export interface Reach {
  /** Its own ones, on which it can listen. */
  readonly own: readonly string[];
  /** Those at the other ends of its cables, to which it can connect. */
  readonly far: readonly { readonly node: string; readonly address: string }[];
}

const networkOf = ({ address, prefixLength }: LiveAddress): number =>
  Math.floor((ipv4Number(address) ?? Number.NaN) / 2 ** (32 - prefixLength));

/** Two addresses at the ends of one cable reach each other only when both count the other one to their own network. */
const isSameNetwork = (one: LiveAddress, other: LiveAddress): boolean =>
  one.prefixLength === other.prefixLength && networkOf(one) === networkOf(other) && one.address !== other.address;

/**
 * What follows from cables, addresses and bridge alone: a pulled cable takes both ends away, a swapped one brings two
 * networks together that do not fit, a bridged or lost address is none, and a hung Mac or a dead port lets nothing through.
 */
export function reachOf(fleet: SimulatedFleet, node: string): Reach {
  const mac = macNamed(fleet, node);
  if (mac === undefined) return { own: [], far: [] };
  const ends = mac.receptacles.flatMap((receptacle) => {
    const own = liveAddress(fleet, mac, receptacle);
    return own === undefined
      ? []
      : [{ receptacle, own, peer: peerAt(fleet, { node: mac.name, receptacle: receptacle.number }) }];
  });
  return {
    own: ends.map(({ own }) => own.address),
    far: ends.flatMap(({ receptacle, own, peer }) => {
      const far = peer === undefined ? undefined : liveAddress(fleet, peer.mac, peer.receptacle);
      if (peer === undefined || far === undefined || !isSameNetwork(own, far)) return [];
      // Ports, addresses and devices all look well at both ends; only nothing comes through.
      if (isPortDead(mac, receptacle) || isPortDead(peer.mac, peer.receptacle)) return [];
      return [{ node: peer.mac.name, address: far.address }];
    }),
  };
}

/** The same, with the addresses in the office network: every Mac of the rack has one and reaches all others there. */
export function wholeReachOf(fleet: SimulatedFleet, node: string): Reach {
  const { own, far } = reachOf(fleet, node);
  const mac = macNamed(fleet, node);
  if (mac === undefined) return { own, far };
  const others = fleet.macs.filter(({ name }) => name !== mac.name);
  return {
    own: [...own, mac.lan.address],
    far: [...far, ...others.map(({ name, lan }) => ({ node: name, address: lan.address }))],
  };
}
