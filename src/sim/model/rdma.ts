import { cableAt } from './cables.ts';
import { carrierAt, type MacState, peerAt, type ReceptacleState, type Seen, type SimulatedFleet } from './fleet.ts';
import { hasRdmaTools } from './macos-builds.ts';

/**
 * Whether this Mac has RDMA devices and announces RDMA to its neighbors. This requires macOS 26.2 or later, Thunderbolt
 * 5, and the NVRAM setting at boot. A Thunderbolt 4 Mac reports "enabled" but never has a device (mlx issue 3777).
 */
export const isRdmaLive = (mac: MacState): boolean =>
  mac.isRdmaEnabled && mac.isRdmaWaiting !== true && mac.model.thunderbolt === 5 && hasRdmaTools(mac.macos.version);

/** The receptacles with an RDMA device: all or none. */
export const rdmaReceptacles = (mac: MacState): readonly ReceptacleState[] => (isRdmaLive(mac) ? mac.receptacles : []);

/** `rdma_en3`, the RDMA device of a receptacle. */
export const rdmaDevice = (receptacle: ReceptacleState): string => `rdma_${receptacle.device}`;

/** Index of the IPv4-mapped GID in a device's table. Index 0 is the link-local GID of the MAC address. */
export const mappedGidIndex = ({ isMappedGidFirst }: ReceptacleState): number => (isMappedGidFirst ? 1 : 2);

/** The node GUID's 16 digits: the switch UID's octets in reverse order, as in all captures. */
export const nodeGuid = ({ switchUid }: ReceptacleState): string =>
  (switchUid.toLowerCase().match(/../g) ?? []).reverse().join('');

/** PORT_ACTIVE needs a cable, and RDMA at both ends (Apple TN3205). */
export function isPortActive(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean {
  const peer = carrierAt(fleet, mac, receptacle);
  return isRdmaLive(mac) && peer !== undefined && isRdmaLive(peer.mac);
}

/** Whether this receptacle transfers nothing although it looks healthy. */
export const isPortDead = ({ ailments }: MacState, { number }: ReceptacleState): boolean =>
  ailments.isRdmaHung || ailments.deadReceptacles.includes(number);

/** The Mac and receptacle to which a receptacle's RDMA device can send; undefined if its cable carries nothing. */
export function rdmaPeer(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): Seen | undefined {
  const end = { node: mac.name, receptacle: receptacle.number };
  const peer = peerAt(fleet, end);
  // Without a carrier at one end, the GID of the address there belongs to a device whose port is down.
  if (peer === undefined || cableAt(fleet.cables, end)?.strayCarrier !== undefined) return undefined;
  if (!isPortActive(fleet, mac, receptacle) || isPortDead(mac, receptacle)) return undefined;
  return isPortDead(peer.mac, peer.receptacle) ? undefined : peer;
}

/** Limit for queue pairs, completion queues and protection domains per device, as reported by this macOS. */
export const rdmaLimit = ({ macos }: MacState): number => (Number(macos.version.split('.')[0]) >= 27 ? 3 : 11);

/**
 * Folder where real programs declare their use of RDMA devices, each in a file named after its process. The file
 * contains the program's name in `ps`, then lines like `rdma_en3 1 2` with device, protection domains and queue pairs.
 */
export const rdmaClientsPath = '/.sim/rdma-clients';

/** File with the devices for the verbs library of this Mac, in the form of `native/test/fake_verbs.c`. */
export const verbsDevicesPath = '/.sim/verbs-devices';

/** Folder in which the verbs libraries of all Macs exchange messages. */
export const verbsWirePath = '/.sim/wire';

/** This file exists while verbs tools, and programs that load the verbs library, hang. */
export const verbsHungPath = '/.sim/verbs-hung';

/** File with the processes of the model: number, group, state, name. They react only to KILL and TERM by tools. */
export const processesPath = '/.sim/processes';

/** PID of a foreign program that has opened every device. */
export const strangerPid = 98_711;

const stranger = { pid: strangerPid, stat: 'S', program: 'python3.12' };

/** A program that hangs in the driver, and the verbs tool that it blocks. */
const hanging = [
  { pid: 98_027, stat: 'U', program: 'mesh-allreduce' },
  { pid: 98_143, stat: 'U', program: 'ibv_devinfo' },
];

export const modelProcesses = ({ ailments }: MacState) => [
  ...(ailments.isRdmaHeld ? [stranger] : []),
  ...(ailments.isVerbsHung ? hanging : []),
];
