import { cableAt, isSameEnd, withoutCable, withSpeed, withSwap } from '../model/cables/cables.ts';
import { linkSpeed, macNamed, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { isBridged } from '../model/interfaces.ts';
import { defineFault, fault } from './fault.ts';
import { shownByCables } from './fault-strange-cables.ts';
import { aimAtCable, aimAtCables, aimAtTwoReceptacles } from './fault-targets.ts';

/** Somebody put two cable ends into each other's receptacles. */
export const cableSwapped = defineFault(
  'cable-swapped',
  shownByCables(
    fault({
      summary: 'two cable ends are exchanged: both receptacles see the wrong neighbour',
      targets: 'NODE:R1,NODE:R2 | NODE (its first two cabled receptacles)',
      aim: aimAtTwoReceptacles,
      change: (fleet, [one, other]) => {
        const first = cableAt(fleet.cables, one);
        if (isSameEnd(one, other)) return 'both ends are the same receptacle';
        if (first === undefined && cableAt(fleet.cables, other) === undefined) return 'neither receptacle has a cable';
        if (first?.ends.every((end) => isSameEnd(end, one) || isSameEnd(end, other)))
          return 'it is one and the same cable';
        return { ...fleet, cables: withSwap(fleet.cables, one, other) };
      },
    }),
  ),
);

/** A cable is out at both of its ends. */
export const cableMissing = defineFault(
  'cable-missing',
  shownByCables(
    fault({
      summary: 'the cable is not plugged in: both receptacles are free',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => ({ ...fleet, cables: withoutCable(fleet.cables, end) }),
    }),
  ),
);

/** A Thunderbolt 4 cable instead of a Thunderbolt 5 one. */
export const cable40g = defineFault(
  'cable-40g',
  shownByCables(
    fault({
      summary: 'the cable is an older one: both ends link at 40 Gb/s',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => {
        const cable = cableAt(fleet.cables, end);
        return cable === undefined || linkSpeed(fleet, cable) === 40
          ? 'the link runs at 40 Gb/s already'
          : { ...fleet, cables: withSpeed(fleet.cables, end, 40) };
      },
    }),
  ),
);

const isBridgedAt = (fleet: SimulatedFleet, node: string, device: string): boolean => {
  const mac = macNamed(fleet, node);
  return mac !== undefined && isBridged(mac, device);
};

/** The interface has lost its IPv4 address, and with it the IPv4-mapped GID. */
export const gidMissing = defineFault(
  'gid-missing',
  fault({
    summary: 'the interface has lost its IPv4 address, so its RDMA device has no GID',
    targets: 'NODE:RECEPTACLE | NODE (all its cabled receptacles)',
    aim: aimAtCables,
    change: (fleet, ends) => {
      const lost = new Set(ends.map(({ receptacle }) => receptacle));
      const node = ends[0]?.node;
      if (node === undefined) return 'it has no cable';
      const devices = (macNamed(fleet, node)?.receptacles ?? []).filter(({ number }) => lost.has(number));
      if (devices.every(({ device }) => isBridgedAt(fleet, node, device)))
        return 'its receptacles are bridged and have no address anyway';
      return withMac(fleet, node, (mac) => {
        const addresses = Object.fromEntries(devices.map(({ device }) => [device, 'none' as const]));
        return { ...mac, live: { ...mac.live, addresses: { ...mac.live.addresses, ...addresses } } };
      });
    },
  }),
);
