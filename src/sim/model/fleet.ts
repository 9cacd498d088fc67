import type { LinkEnd, NodeName } from '../../model/node.ts';
import { type Cable, cableAt, farEnd, isSameEnd, type PluggedCables } from './cables.ts';
import type { Directory } from './directory.ts';
import type { SimulatedModel } from './hardware.ts';
import type { PlistDict } from './plist.ts';

export interface InterfaceAddress {
  readonly address: string;
  readonly prefixLength: number;
}

/** One Thunderbolt receptacle with its bus and network interface. */
export interface ReceptacleState {
  /** Number as in macOS's `receptacle_id_key`. */
  readonly number: number;
  readonly bus: number;
  readonly domainUuid: string;
  /** 16 hexadecimal digits, `05AC…`; the last one is the bus. */
  readonly switchUid: string;
  /** Such as `en3`. */
  readonly device: string;
  readonly macAddress: string;
  /** The interface's link-local address, which macOS does not derive from EUI-64. */
  readonly linkLocal: string;
  readonly ipServiceUuid: string;
  readonly rdmaServiceUuid: string;
  /** The interface's self-assigned 169.254 address, because no DHCP server answers on a cable. */
  readonly selfAssigned: string;
  /** Whether the IPv4-mapped GID precedes the interface's link-local one, as on most Macs (index 1, not 2). */
  readonly isMappedGidFirst: boolean;
}

export type PortState = SimulatedModel['ports'][number] & { readonly macAddress: string };

/** Differences between the node's ssh server and a healthy one. */
export interface ConnectionState {
  readonly hostKey: 'own' | 'other';
  /** `preboot`: locked; only FileVault's password-only sshd answers. `authorized`: the next boot needs no password. */
  readonly filevault: 'unlocked' | 'authorized' | 'preboot';
  /** `same`: the sshd before FileVault shows the normal key. Absent: that sshd has its own key. */
  readonly prebootKey?: 'same';
  /** Remote Login is off: new connections are refused, open ones continue. */
  readonly isRemoteLoginOff?: true;
  /** Closes a connection after this many bytes on its socket. Absent: never. */
  readonly dropAfterBytes?: number;
}

export interface Panic {
  /** For an unknown reason, or in the driver of IP over Thunderbolt. */
  readonly cause: 'crash' | 'tcp-load';
  /** The time when the Mac was up again and wrote the report. */
  readonly atEpochSeconds: number;
}

export interface Ailments {
  /** The cables transfer nothing although every port is active, until the next boot. */
  readonly isRdmaHung?: true;
  /** Receptacles that were idle too long. Whatever they report, they transfer nothing until the next boot. */
  readonly deadReceptacles: readonly number[];
  /** Whether failed starts leaked all protection domains, so that no program gets one, until the next boot. */
  readonly lacksDomains?: true;
  /** No new queue pair can be connected, until the next boot. */
  readonly refusesQueuePairs?: true;
  /** A foreign program has opened every RDMA device, until it is stopped. */
  readonly isRdmaHeld?: true;
  /** The RDMA driver is deadlocked: every verbs tool hangs, until the next boot. */
  readonly isVerbsHung?: true;
  /** Every boot recreates the Thunderbolt Bridge. */
  readonly isBridgeRebuilt?: true;
  /** Whether an SSH session may change network preferences. */
  readonly hasFullDiskAccess: boolean;
  /** Internet Sharing is on for all Macs on its cables. */
  readonly isSharingInternet?: true;
  /** Free bytes on the disk. Absent: computed from the disk's size. */
  readonly diskRoomBytes?: number;
  readonly isSlowToStop?: true;
  /** The Mac remains off after it went down. */
  readonly isStayingOff?: true;
  /** The kernel panics now: the Mac goes down immediately and restarts by itself. */
  readonly panic?: Panic['cause'];
  /** High TCP load over a cable makes the kernel panic. */
  readonly panicsUnderTcp?: true;
  /** exo's network daemon: `stopped` means unloaded and disabled. */
  readonly networkDaemon?: 'fights' | 'stopped';
  /** A killed process's wired memory remains wired. */
  readonly leaksWired?: true;
  /** Local Network privacy keeps ranks from connecting to other Macs. */
  readonly isLanDenied?: true;
  /** macOS kills every rank right after its start. */
  readonly killsRanks?: true;
  /** Bytes that killed processes left wired, until the next boot. */
  readonly leakedWiredBytes?: number;
  /** Swap space in use, until the next boot. */
  readonly swapUsedMegabytes?: number;
  readonly lacksCurrent?: true;
  /**
   * How the next macOS update ends: with another build, with the old version, with settings reset, or not at all. The
   * update ends the fault, except if it never ends.
   */
  readonly update?: 'differs' | 'fails' | 'resets' | 'stuck';
  /** The signal that its ranks are about to get. */
  readonly rankSignal?: 'SIGSTOP' | 'SIGKILL';
}

/** The whole state of one simulated Mac. Immutable: a fault creates a new state. */
export interface MacState {
  readonly name: NodeName;
  readonly model: SimulatedModel;
  readonly memoryBytes: number;
  readonly serial: string;
  readonly hardwareUuid: string;
  readonly macos: { readonly version: string; readonly build: string };
  /** Labels of downloaded updates; absent: none. */
  readonly downloads?: readonly string[];
  /** The macOS that the next boot starts, because an update was installed; absent: the same as now. */
  readonly installed?: MacState['macos'];
  /** Sorted by number. */
  readonly receptacles: readonly ReceptacleState[];
  /** All other network ports, in macOS's order. */
  readonly ports: readonly PortState[];
  /** The Mac's interface and addresses in the office network. */
  readonly lan: { readonly device: string; readonly address: string; readonly linkLocal: string };
  /** The NVRAM variable `rdma-enable`; whether devices exist also depends on hardware and macOS. */
  readonly isRdmaEnabled: boolean;
  /** RDMA was enabled after the last boot: no devices before the next one. */
  readonly isRdmaWaiting?: true;
  /** The file of network services and bridges, in key order. */
  readonly preferences: PlistDict;
  /** Network state of the running system only. Each boot recreates it from the preferences. */
  readonly live: {
    /** The members of `bridge0`; absent without that interface. */
    readonly bridge?: readonly string[];
    /** Addresses by interface that differ from the preferences; `none` if it lost its address. */
    readonly addresses: Readonly<Record<string, InterfaceAddress | 'none'>>;
  };
  /** Preference domains by path without `.plist`; an empty domain is an empty file. */
  readonly domains: Readonly<Record<string, PlistDict>>;
  /** The application firewall's state in its tool's numbers: off, on, blocking all. */
  readonly firewall: 0 | 1 | 2;
  readonly indexed: readonly string[];
  readonly isFileVaultOn: boolean;
  readonly power: {
    /** In minutes; 0 means never. */
    readonly sleepMinutes: number;
    readonly diskSleepMinutes: number;
    readonly restartsAfterPowerLoss: boolean;
  };
  /** `iogpu.wired_limit_mb`; 0 is macOS's default. */
  readonly wiredLimitMegabytes: number;
  /** `count` is 0 for a new Mac and grows with each boot. */
  readonly bootSession: { readonly uuid: string; readonly count: number; readonly bootedAtEpochSeconds: number };
  readonly disk: { readonly totalKib: number; readonly usedKib: number; readonly availableKib: number };
  readonly connection: ConnectionState;
  readonly ailments: Ailments;
  /** Kernel panics, oldest first; absent: none. */
  readonly panics?: readonly Panic[];
  readonly directory: Directory;
  /** Password of the ssh user, for sshd, `sudo -S` and the sshd before FileVault; the text of `/.sim/password`. */
  readonly password: string;
  /** Whether this computer's key is in `~/.ssh/authorized_keys`, as after `enroll`. */
  readonly hasKey: boolean;
  /** Result of `sudo -n` for the ssh user; the text of `/.sim/sudo`. `allowed`: by a rule in `/etc/sudoers.d`. */
  readonly sudo: 'allowed' | 'needs-password' | 'denied';
  /** The node's clock minus the true time; the text of `/.sim/clock-offset`. */
  readonly clockOffsetSeconds: number;
}

/** All simulated Macs, their cables, and the Mac that answers at each address. */
export interface SimulatedFleet extends PluggedCables {
  /** Sorted by name; one per node in the file. */
  readonly macs: readonly MacState[];
  /** Macs that are not in the file, each at the end of a cable. They are not reachable over SSH. */
  readonly strangers: readonly MacState[];
  /** Nodes whose address leads to a different node's Mac. */
  readonly misdirected: Readonly<Record<string, NodeName>>;
}

/** This node's own Mac, wherever the node's address leads; undefined for names that are not in the file. */
export const macNamed = (fleet: SimulatedFleet, node: string): MacState | undefined =>
  fleet.macs.find((mac) => mac.name === node);

/** The Mac that answers at this node's address. Host key and connection faults belong to the address. */
export function macBehind(fleet: SimulatedFleet, node: string): MacState | undefined {
  const own = macNamed(fleet, node);
  const other = Object.hasOwn(fleet.misdirected, node) ? fleet.misdirected[node] : undefined;
  const answering = other === undefined ? undefined : macNamed(fleet, other);
  if (own === undefined || answering === undefined) return own;
  return { ...answering, connection: { ...own.connection, filevault: answering.connection.filevault } };
}

export const receptacleOf = (mac: MacState, number: number): ReceptacleState | undefined =>
  mac.receptacles.find((receptacle) => receptacle.number === number);

export interface Seen {
  readonly mac: MacState;
  readonly receptacle: ReceptacleState;
}

/** The Mac at the end of a cable, inside or outside the rack. */
const macAtCable = (fleet: SimulatedFleet, { node }: LinkEnd): MacState | undefined =>
  macNamed(fleet, node) ?? fleet.strangers.find(({ name }) => name === node);

/** The link speed over this cable, which is that of the slowest part. */
export const linkSpeed = (fleet: SimulatedFleet, { ends, gigabitsPerSecond }: Cable): Cable['gigabitsPerSecond'] =>
  ends.every((end) => macAtCable(fleet, end)?.model.thunderbolt === 5) ? gigabitsPerSecond : 40;

/**
 * Throughput of the USB-NCM path that macOS uses while an address has no carrier: 37 MB/s.
 * @see avlp12/two-macstudio-m3u, cluster/tb_preflight.sh (2026-08-26)
 */
const strayGigabits = 0.3;

/** The gigabits per second that this cable really carries. */
export const carriedSpeed = (fleet: SimulatedFleet, cable: Cable): number =>
  cable.strayCarrier === undefined ? linkSpeed(fleet, cable) / (cable.isSlow ? 10 : 1) : strayGigabits;

/** The Mac and receptacle at the far end of this receptacle's cable; undefined without a cable. */
export function peerAt(fleet: SimulatedFleet, end: LinkEnd): Seen | undefined {
  const far = farEnd(fleet.cables, end);
  const mac = far === undefined ? undefined : macAtCable(fleet, far);
  const receptacle = far === undefined || mac === undefined ? undefined : receptacleOf(mac, far.receptacle);
  return mac === undefined || receptacle === undefined ? undefined : { mac, receptacle };
}

/** The Mac and receptacle with which a receptacle's interface has a carrier: normally those at its own cable's end. */
export function carrierAt(fleet: SimulatedFleet, mac: MacState, { number }: ReceptacleState): Seen | undefined {
  const own: LinkEnd = { node: mac.name, receptacle: number };
  const stray = fleet.cables.find(({ strayCarrier: one }) => one?.at.node === mac.name && one.on === number);
  if (stray?.strayCarrier !== undefined) return peerAt(fleet, stray.strayCarrier.at);
  const at = cableAt(fleet.cables, own)?.strayCarrier?.at;
  return at !== undefined && isSameEnd(at, own) ? undefined : peerAt(fleet, own);
}

export const ailing = (mac: MacState, ailments: Partial<Ailments>): MacState => ({
  ...mac,
  ailments: { ...mac.ailments, ...ailments },
});

export const withConnection = (mac: MacState, connection: Partial<ConnectionState>): MacState => ({
  ...mac,
  connection: { ...mac.connection, ...connection },
});

/** Returns the fleet with one changed Mac, or the identical fleet if the change returns the same Mac. */
export function withMac(fleet: SimulatedFleet, node: string, change: (mac: MacState) => MacState): SimulatedFleet {
  const macs = fleet.macs.map((mac) => (mac.name === node ? change(mac) : mac));
  return macs.every((mac, index) => mac === fleet.macs[index]) ? fleet : { ...fleet, macs };
}
