import { type MacState, peerAt, type ReceptacleState, type SimulatedFleet } from './fleet.ts';
import { hasRdmaTools } from './macos-builds.ts';

/**
 * Whether this Mac has RDMA devices and tells its neighbours so: enabled in NVRAM before it started, Thunderbolt 5 (a
 * Thunderbolt 4 Mac says "enabled" and has no device for ever, mlx issue 3777) and macOS 26.2 or later.
 */
export const isRdmaLive = (mac: MacState): boolean =>
  mac.isRdmaEnabled && mac.isRdmaWaiting !== true && mac.model.thunderbolt === 5 && hasRdmaTools(mac.macos.version);

/** The receptacles that have an RDMA device: all or none. */
export const rdmaReceptacles = (mac: MacState): readonly ReceptacleState[] => (isRdmaLive(mac) ? mac.receptacles : []);

/** `rdma_en3`, the device of a receptacle. */
export const rdmaDevice = (receptacle: ReceptacleState): string => `rdma_${receptacle.device}`;

/** The 16 digits of the node GUID: the octets of the switch UID the other way round, as all captures have them. */
export const nodeGuid = ({ switchUid }: ReceptacleState): string =>
  (switchUid.toLowerCase().match(/../g) ?? []).reverse().join('');

/** PORT_ACTIVE needs a cable, and RDMA at both of its ends (Apple TN3205). */
export function isPortActive(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean {
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  return isRdmaLive(mac) && peer !== undefined && isRdmaLive(peer.mac);
}

/** Whether nothing comes through this receptacle though everything about it looks well. */
export const isPortDead = ({ ailments }: MacState, { number }: ReceptacleState): boolean =>
  ailments.isRdmaHung || ailments.deadReceptacles.includes(number);

/** How many queue pairs, completion queues and protection domains of each device this macOS says it has. */
export const rdmaLimit = ({ macos }: MacState): number => (Number(macos.version.split('.')[0]) >= 27 ? 3 : 11);

/**
 * Where a program that runs for real says what it has of each RDMA device, in a file named after its process: its name as
 * `ps` shows it, then lines `rdma_en3 1 2` with the device, its protection domains and its queue pairs.
 */
export const rdmaClientsPath = '/.sim/rdma-clients';

/** There while verbs tools hang. */
export const verbsHungPath = '/.sim/verbs-hung';

/** Processes of the model, which no signal but KILL or TERM from here reaches: number, group, state and name of each. */
export const processesPath = '/.sim/processes';

/** A program of somebody else that holds every device. */
export const strangerPid = 98_711;

/** One process of the model. */
interface ModelProcess {
  readonly pid: number;
  readonly stat: 'S' | 'U';
  readonly program: string;
}

/** Every process that exists in the model alone. */
export const modelProcesses = ({ ailments }: MacState): readonly ModelProcess[] => [
  ...(ailments.isRdmaHeld ? [{ pid: strangerPid, stat: 'S', program: 'python3.12' } as const] : []),
  ...(ailments.isVerbsHung
    ? ([
        // A program that hangs in the driver, and the verbs tool that hangs behind it.
        { pid: 98_027, stat: 'U', program: 'mesh-allreduce' },
        { pid: 98_143, stat: 'U', program: 'ibv_devinfo' },
      ] as const)
    : []),
];
