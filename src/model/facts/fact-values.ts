import type { Digest } from '../digest.ts';
import type { GoldenRecord } from '../endpoint-calls.ts';
import type { Known } from '../known.ts';
import type { NodeName } from '../node.ts';
import type { RankRecord, TreeKind } from '../node-script.ts';
import type { StartOutcome } from './node-records.ts';

/** All facts of one node at one instant by name; every fact is there, known or unknown. Read one through its definition. */
export type Facts = Readonly<Record<string, Known<unknown>>>;

/** What one observation found out about one node. */
export interface NodeObservation {
  readonly node: NodeName;
  readonly facts: Facts;
}

/** Another Mac seen at the far end of a cable. */
export interface ThunderboltPeer {
  /** The domain UUID of the peer's bus; with our own it names the cable. */
  readonly domainUuid: string;
  /** The peer's `hw.model`; `unknown` when macOS does not print it. */
  readonly model: string;
  /** The peer's family name ("Mac Studio"); `unknown` when macOS does not print it. */
  readonly name: string;
  /**
   * True when the peer advertises RDMA (protocol 64087): a strong hint, confirmed only by `rdma_ctl` on the peer.
   * `unknown` when macOS does not list the peer's services, or not all of their numbers.
   */
  readonly advertisesRdma: boolean | 'unknown';
  /** 0 when directly cabled, else how many docks or hubs stand between. */
  readonly hubsBetween: number;
}

/** A dock, hub or disk: something with a switch UID and no domain of its own. */
export interface ThunderboltDevice {
  /** As it calls itself; `unknown` when that cannot be shown. */
  readonly name: string;
  readonly vendor?: string;
  /** Such as `usb_four_v2` or `thunderbolt_three`. */
  readonly mode?: string;
}

/** One Thunderbolt bus with its one receptacle. */
export interface ThunderboltReceptacle {
  readonly bus: string;
  /** Absent where macOS names none. */
  readonly domainUuid?: string;
  /** As macOS prints it in `receptacle_id_key`; never computed from the bus number. */
  readonly receptacle: number;
  /**
   * `silent`: macOS lists neither a Mac nor a device for the cable, so `peers` and `devices` prove nothing. `unknown`: the
   * description of its bus cannot be read.
   */
  readonly state: 'connected' | 'silent' | 'empty' | 'unknown';
  /** Speed of the cable in bits per second; absent while nothing is connected. */
  readonly linkBitsPerSecond?: number;
  /** What the socket could do, from its "Up to N Gb/s" while free; absent while connected. */
  readonly maxBitsPerSecond?: number;
  readonly peers: readonly ThunderboltPeer[];
  readonly devices: readonly ThunderboltDevice[];
}

/** An IPv4 address of an interface; `prefixLength` 0 to 32. */
export interface Ipv4Address {
  readonly address: string;
  readonly prefixLength: number;
}

/** One interface of `ifconfig -a`. */
export interface NetworkInterface {
  readonly name: string;
  readonly isUp: boolean;
  readonly mtuBytes: number;
  readonly mac?: string;
  readonly ipv4: readonly Ipv4Address[];
  readonly ipv6: readonly string[];
  /** Absent when macOS prints no status line, as for an interface that is down. */
  readonly status?: 'active' | 'inactive';
  /** Members, for a bridge; empty for everything else. */
  readonly members: readonly string[];
  /** Set on the one over which the node was asked; on none where that came over the loopback, or nobody could tell. */
  readonly carriesConnection?: true;
}

/** What DHCP gave an interface, from the packet that its client accepted. @see ipconfig(8): getpacket */
export interface DhcpLease {
  readonly address: string;
  /** The IPv4 address of the server, as the server itself states it. */
  readonly server: string;
  /** From the last answer of the server on; a server that never takes an address back states 4,294,967,295. */
  readonly seconds: number;
}

/** An interface that was asked for its DHCP packet. */
export interface DhcpAnswer {
  readonly device: string;
  /** Absent where the interface has no address from DHCP. */
  readonly lease?: DhcpLease;
}

/** One line of the IPv4 routing table. */
export interface Route {
  /** `0.0.0.0/0` for a default route. */
  readonly destination: Ipv4Address;
  /** An IPv4 address, `link#14` for what is on the wire itself, an Ethernet address, or an interface. */
  readonly gateway: string;
  /** As netstat prints them: `I` is a route only for what is bound to its interface. @see netstat(1) */
  readonly flags: string;
  readonly device: string;
}

/** One bridge of the network preferences. */
export interface BridgePreference {
  readonly name: string;
  readonly interfaces: readonly string[];
  /** `thunderbolt-bridge` when macOS made it by itself. */
  readonly auto?: string;
}

/** One network service, in the order in which macOS tries them. */
export interface NetworkService {
  readonly name: string;
  readonly port: string;
  /** Absent for services without a device, such as a VPN. */
  readonly device?: string;
  readonly isEnabled: boolean;
}

/** How a network service gets its IPv4 address, as the network preferences keep it over a reboot. */
export interface ServiceAddress {
  readonly service: string;
  readonly device: string;
  /** `off`: IPv4 is switched off. */
  readonly method: 'dhcp' | 'manual' | 'off' | 'other';
  /** For `manual`. */
  readonly address?: Ipv4Address;
  /** For `manual`, where it has one: the IPv4 address of the way to everybody else. */
  readonly router?: string;
}

/** A file that meshwright put on the node. `changed` when its content or mode is not as it was put. */
export interface KeptFile {
  /** As a Mac knows it, without a root prefix. */
  readonly path: string;
  /** Of the content before it was rendered. */
  readonly digest: string;
  readonly state: 'intact' | 'changed' | 'missing';
}

/** A published tree: one version of a runtime, or a model. */
export interface KeptTree {
  readonly kind: TreeKind;
  readonly name: string;
  /** The first 16 digits of its digest, which name its folder. */
  readonly digest: string;
  /** All of it, as its seal has it; of an intact tree alone. */
  readonly whole?: Digest;
  /**
   * Of an intact tree that its node has made by itself: what came out. `python`, its version; `packages`, the digest of
   * all installed files; `library.<path>`, that of one compiled library.
   */
  readonly libraries?: Readonly<Record<string, string>>;
  /** Of runtimes: whether `current` points at it. Models have no `current`. */
  readonly isCurrent: boolean;
  /**
   * `changed` when a file was changed, added or lost since it was sealed; `unsealed` when it never was; `staged` while
   * it is only being made ready in its staging folder, beside whatever is published of it.
   */
  readonly state: 'intact' | 'changed' | 'unsealed' | 'staged';
}

/** What one token request to an endpoint on its own node gave. */
export type TokenSight =
  /** Not the leader, or its process does not run. */
  | { readonly kind: 'not-asked' }
  | { readonly kind: 'answered'; readonly text: string }
  /** Not asked, since a request is in flight or a client has just got a token, so long ago. */
  | { readonly kind: 'in-flight'; readonly reason: string; readonly lastTokenMsAgo?: number }
  /** Refused, timed out, not 200, or not what the API answers. A timeout alone does not tell a busy mesh from a hung one. */
  | { readonly kind: 'silent'; readonly reason: string; readonly isTimeout?: true };

/** One member of a placement as its node keeps it. */
export interface PlacementMember extends RankRecord {
  /** Boot session of the last start, and how many starts it saw; empty and 0 before the first one. */
  readonly startedIn: string;
  readonly starts: number;
  /** Whether something listens on {@link RankRecord.port} of this node. */
  readonly isListening: boolean;
  /** The same for {@link RankRecord.meetPort}. */
  readonly isMeeting: boolean;
  readonly token: TokenSight;
  /** What the leader keeps of the golden answer; absent where nothing was kept. */
  readonly golden?: GoldenRecord;
  /** Lines of its log since its last start that match {@link RankRecord.logPattern}, oldest first: the first and the last ones. */
  readonly said: readonly string[];
  /** The last line of it in which a library or the system complains of a device or of the way to a peer. */
  readonly complaint?: string;
  readonly lastTalked?: 'tcp'; // over what the start before its last one talked against the file, in the same boot session
  /** What became of its last start by the time it was stopped; `exited`: it failed, and its program had ended by itself. */
  readonly outcome?: StartOutcome | 'exited';
  /** The boot session of an earlier start that failed, where its last start followed that one in another boot session. */
  readonly failedIn?: string;
  /** How much the GPU may use, as its log said at its last start; absent where it says nothing of it. */
  readonly gpuBytes?: number;
}

/** The daemon of ours that puts back what macOS undoes. */
export interface KeeperSight {
  /** Of its program, its data and its property list those that were put. */
  readonly files: readonly KeptFile[];
  readonly isLoaded: boolean;
  /** Whether macOS did not let an ssh session change the network preferences, so that the rest is left to the keeper. */
  readonly isRefused: boolean;
  /** The last line of its log: `at=1790000000 wired-limit from=0 to=491520`. */
  readonly lastChange?: string;
}
