import type { NodeName } from '../model/node.ts';
import type { MacModel, NetworkPort } from './hardware.ts';

/** How the interface of a receptacle gets its IPv4 address. */
export type AddressConfig =
  | { readonly kind: 'manual'; readonly address: string; readonly prefixLength: number }
  /** Nobody answers DHCP on a cable, so macOS gives itself this 169.254 address. */
  | { readonly kind: 'dhcp'; readonly selfAssigned: string };

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
  readonly config: AddressConfig;
  /** True when the live interface has no IPv4 although its service still has one. */
  readonly hasLostAddress: boolean;
  /** Whether macOS put the IPv4-mapped GID before the interface's own link-local one; both orders were seen. */
  readonly isMappedGidFirst: boolean;
}

/** A network port that is no Thunderbolt receptacle. */
export interface PortState extends NetworkPort {
  readonly macAddress: string;
}

/** The three layers of the Thunderbolt Bridge; a Mac can have any mixture of them. */
export interface BridgeState {
  readonly hasInterface: boolean;
  /** `emptied`: the key is there and holds `{}`, as after deleting the bridge; `never-written`: no such key. */
  readonly preferences: 'listed' | 'emptied' | 'never-written';
  readonly service: 'enabled' | 'disabled' | 'absent';
}

/** What the ssh server of the node does differently from a healthy one. */
export interface ConnectionState {
  readonly hostKey: 'own' | 'other';
  /** `preboot`: locked; only the password-only sshd of FileVault answers. */
  readonly filevault: 'unlocked' | 'preboot';
  /** After so many bytes written to the socket of a connection it is closed. Absent: never. */
  readonly dropAfterBytes?: number;
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
  /** What NVRAM says; whether devices exist also depends on hardware and macOS. */
  readonly isRdmaEnabled: boolean;
  readonly bridge: BridgeState;
  /** Whether each receptacle has a network service of its own, as after the bridge was removed on purpose. */
  readonly hasReceptacleServices: boolean;
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
  /** What `sudo -n` does for the ssh user; the text of `/.sim/sudo`. */
  readonly sudo: 'allowed' | 'needs-password' | 'denied';
  /** The node's clock minus the true one; the text of `/.sim/clock-offset`. */
  readonly clockOffsetSeconds: number;
}
