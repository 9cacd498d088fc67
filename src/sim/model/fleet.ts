import type { LinkEnd, NodeName } from '../../model/node.ts';
import { type Cable, type Cabling, farEnd } from './cables.ts';
import type { Directory } from './directory.ts';
import type { MacModel } from './hardware.ts';
import type { PlistDict } from './plist.ts';

/** An IPv4 address of an interface. */
export interface InterfaceAddress {
  readonly address: string;
  readonly prefixLength: number;
}

/** One Thunderbolt receptacle with its bus and its network interface. */
export interface ReceptacleState {
  /** As macOS prints it in `receptacle_id_key`. */
  readonly number: number;
  readonly bus: number;
  readonly domainUuid: string;
  /** Sixteen hexadecimal digits, `05AC…`, the last of them the bus. */
  readonly switchUid: string;
  /** The network interface, such as `en3`. */
  readonly device: string;
  readonly macAddress: string;
  /** The link-local address that macOS makes for the interface: not the EUI-64 one. */
  readonly linkLocal: string;
  readonly ipServiceUuid: string;
  readonly rdmaServiceUuid: string;
  /** The 169.254 address that macOS gives the interface, since nobody answers DHCP on a cable. */
  readonly selfAssigned: string;
  /** Whether macOS put the IPv4-mapped GID before the interface's own link-local one; both orders were seen. */
  readonly isMappedGidFirst: boolean;
}

/** A network port that is no Thunderbolt receptacle. */
export type PortState = MacModel['ports'][number] & { readonly macAddress: string };

/** What of the network only the running system has: every start makes it anew from the preferences. */
interface LiveNetwork {
  /** The members of `bridge0`; absent when there is no such interface. */
  readonly bridge?: readonly string[];
  /** By interface: an address that differs from what the preferences say, or that it has lost its own. */
  readonly addresses: Readonly<Record<string, InterfaceAddress | 'none'>>;
}

/** What the ssh server of the node does differently from a healthy one. */
export interface ConnectionState {
  readonly hostKey: 'own' | 'other';
  /** `preboot`: locked; only the password-only sshd of FileVault answers. */
  readonly filevault: 'unlocked' | 'preboot';
  /** `same`: the sshd before FileVault shows the key of the normal one. Absent: a key of its own. */
  readonly prebootKey?: 'same';
  /** Remote Login is off: nobody listens for whoever connects next, and connections that are open stay so. */
  readonly isRemoteLoginOff?: true;
  /** After so many bytes written to the socket of a connection it is closed. Absent: never. */
  readonly dropAfterBytes?: number;
}

/** Why a kernel panics: for no reason that anybody knows, or in the driver of IP over Thunderbolt. */
type PanicCause = 'crash' | 'tcp-load';

/** A kernel panic of which macOS has written a report. */
export interface Panic {
  readonly cause: PanicCause;
  /** When the Mac was there again and wrote it. */
  readonly atEpochSeconds: number;
}

/** What is wrong with a Mac beyond its settings. */
export interface Ailments {
  /** Nothing comes through its cables, though every port says active; until the next start. */
  readonly isRdmaHung: boolean;
  /** Receptacles that idled too long: nothing comes through them, whatever they say, until the next start. */
  readonly deadReceptacles: readonly number[];
  /** Whether failed starts have leaked every protection domain, so that no program gets one; until the next start. */
  readonly lacksDomains: boolean;
  /** A program that is not ours has opened every RDMA device, until it is ended. */
  readonly isRdmaHeld?: true;
  /** The RDMA driver is deadlocked: every verbs tool hangs in it, until the next start. */
  readonly isVerbsHung?: true;
  /** Every start puts the Thunderbolt Bridge together again. */
  readonly isBridgeRebuilt: boolean;
  /** Whether an SSH session may change the network preferences. */
  readonly hasFullDiskAccess: boolean;
  /** Internet Sharing is on, to every Mac at its cables. */
  readonly isSharingInternet: boolean;
  /** How many bytes still fit on the disk. Absent: as many as its size says. */
  readonly diskRoomBytes?: number;
  readonly isSlowToStop: boolean;
  /** It does not come back by itself after it went down. */
  readonly isStayingOff: boolean;
  /** The kernel panics, now: it goes down in the middle of everything, and starts again by itself. */
  readonly panic?: PanicCause;
  /** Much TCP through a cable makes the kernel panic. */
  readonly panicsUnderTcp?: true;
  /** exo's network daemon: `stopped` is unloaded and disabled. */
  readonly networkDaemon?: 'fights' | 'stopped';
  /** What a killed process has wired stays wired. */
  readonly leaksWired?: true;
  /** What killed processes have left wired; until the next start. */
  readonly leakedWiredBytes?: number;
  /** There is no current at its socket. */
  readonly lacksCurrent?: true;
}

/** The whole state of one simulated Mac. Never changed in place: a fault makes a new one. */
export interface MacState {
  readonly name: NodeName;
  readonly model: MacModel;
  readonly memoryBytes: number;
  readonly serial: string;
  readonly hardwareUuid: string;
  readonly macos: { readonly version: string; readonly build: string };
  /** Sorted by number. */
  readonly receptacles: readonly ReceptacleState[];
  /** Every network port that is no Thunderbolt receptacle, in the order in which macOS lists them. */
  readonly ports: readonly PortState[];
  /** Where and how the office network reaches the Mac. */
  readonly lan: { readonly device: string; readonly address: string; readonly linkLocal: string };
  /** The variable `rdma-enable` of NVRAM; whether devices exist also depends on hardware and macOS. */
  readonly isRdmaEnabled: boolean;
  /** RDMA was switched on after the last start: no device before the next one. */
  readonly isRdmaWaiting?: true;
  /** The file of network services and bridges, in the order of its keys. */
  readonly preferences: PlistDict;
  readonly live: LiveNetwork;
  /** Preference domains by their path without `.plist`; one without a key is a file that is there and empty. */
  readonly domains: Readonly<Record<string, PlistDict>>;
  /** The state of the application firewall as its tool counts: off, on, blocking all. */
  readonly firewall: 0 | 1 | 2;
  /** The volumes that Spotlight indexes. */
  readonly indexed: readonly string[];
  readonly isFileVaultOn: boolean;
  readonly power: {
    /** Minutes; 0 is never. */
    readonly sleepMinutes: number;
    readonly diskSleepMinutes: number;
    readonly restartsAfterPowerLoss: boolean;
  };
  /** `iogpu.wired_limit_mb`; 0 is macOS's default. */
  readonly wiredLimitMegabytes: number;
  /** `count` is 0 for a new Mac and grows with each start. */
  readonly bootSession: { readonly uuid: string; readonly count: number; readonly bootedAtEpochSeconds: number };
  readonly disk: { readonly totalKib: number; readonly usedKib: number; readonly availableKib: number };
  readonly connection: ConnectionState;
  readonly ailments: Ailments;
  /** Oldest first; none when absent. */
  readonly panics?: readonly Panic[];
  readonly directory: Directory;
  /** Of the ssh user's account: what sshd, `sudo -S` and the sshd before FileVault take; the text of `/.sim/password`. */
  readonly password: string;
  /** Whether the key of this computer was put into `~/.ssh/authorized_keys`, as after `enroll`. */
  readonly hasKey: boolean;
  /** What `sudo -n` does for the ssh user; the text of `/.sim/sudo`. `allowed`: by a rule in `/etc/sudoers.d`. */
  readonly sudo: 'allowed' | 'needs-password' | 'denied';
  /** The node's clock minus the true one; the text of `/.sim/clock-offset`. */
  readonly clockOffsetSeconds: number;
}

/** All simulated Macs, the cables between them, and which Mac answers at which node's address. */
export interface SimulatedFleet extends Cabling {
  /** Sorted by name; one per node of the file. */
  readonly macs: readonly MacState[];
  /** Macs that no file names, each at the end of some cable. Nobody reaches them over SSH. */
  readonly strangers: readonly MacState[];
  /** Nodes whose address leads to the Mac of another node. */
  readonly misdirected: Readonly<Record<string, NodeName>>;
}

/** The Mac that belongs to this node, wherever the node's address leads; undefined for a name that is not in the file. */
export const macNamed = (fleet: SimulatedFleet, node: string): MacState | undefined =>
  fleet.macs.find((mac) => mac.name === node);

/**
 * The Mac that answers at this node's address: what the ssh server and every tool there must show. The host key and
 * a broken connection belong to the address, everything else to the Mac.
 */
export function macBehind(fleet: SimulatedFleet, node: string): MacState | undefined {
  const own = macNamed(fleet, node);
  const other = Object.hasOwn(fleet.misdirected, node) ? fleet.misdirected[node] : undefined;
  const answering = other === undefined ? undefined : macNamed(fleet, other);
  if (own === undefined || answering === undefined) return own;
  return { ...answering, connection: { ...own.connection, filevault: answering.connection.filevault } };
}

/** The receptacle of this number. */
export const receptacleOf = (mac: MacState, number: number): ReceptacleState | undefined =>
  mac.receptacles.find((receptacle) => receptacle.number === number);

/** Mac and receptacle at one end of a cable. */
export interface Seen {
  readonly mac: MacState;
  readonly receptacle: ReceptacleState;
}

/** The Mac at the end of a cable, in the rack or outside of it. */
const macAtCable = (fleet: SimulatedFleet, { node }: LinkEnd): MacState | undefined =>
  macNamed(fleet, node) ?? fleet.strangers.find(({ name }) => name === node);

/** How fast a link over this cable is: as fast as its slowest part. */
export const linkSpeed = (fleet: SimulatedFleet, { ends, gigabitsPerSecond }: Cable): Cable['gigabitsPerSecond'] =>
  ends.every((end) => macAtCable(fleet, end)?.model.thunderbolt === 5) ? gigabitsPerSecond : 40;

/** What a Mac sees at the far end of the cable in this receptacle; undefined when none is plugged in. */
export function peerAt(fleet: SimulatedFleet, end: LinkEnd): Seen | undefined {
  const far = farEnd(fleet.cables, end);
  const mac = far === undefined ? undefined : macAtCable(fleet, far);
  const receptacle = far === undefined || mac === undefined ? undefined : receptacleOf(mac, far.receptacle);
  return mac === undefined || receptacle === undefined ? undefined : { mac, receptacle };
}

/** The fleet with one Mac changed; the very same fleet when the change gives the same Mac. */
export function withMac(fleet: SimulatedFleet, node: string, change: (mac: MacState) => MacState): SimulatedFleet {
  const macs = fleet.macs.map((mac) => (mac.name === node ? change(mac) : mac));
  return macs.every((mac, index) => mac === fleet.macs[index]) ? fleet : { ...fleet, macs };
}
