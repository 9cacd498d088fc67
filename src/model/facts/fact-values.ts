import type { Digest } from '../digest.ts';
import type { GoldenRecord } from '../endpoint-calls.ts';
import type { Known } from '../known.ts';
import type { NodeName } from '../node.ts';
import type { RankRecord, TreeKind } from '../node-script.ts';
import type { StartOutcome } from './node-records.ts';

/** All facts of one node at one instant, by name, known or unknown. Read a fact through its definition. */
export type Facts = Readonly<Record<string, Known<unknown>>>;

/** One observation of one node. */
export interface NodeObservation {
  readonly node: NodeName;
  readonly facts: Facts;
}

/** A Mac seen at the far end of a cable. */
export interface ThunderboltPeer {
  /** The domain UUID of the peer's bus; together with our own it identifies the cable. */
  readonly domainUuid: string;
  /** The peer's `hw.model`; `unknown` if macOS does not print it. */
  readonly model: string;
  /** The peer's family name ("Mac Studio"); `unknown` if macOS does not print it. */
  readonly name: string;
  /**
   * True when the peer advertises RDMA (protocol 64087): a strong hint, confirmed only by `rdma_ctl` on the peer.
   * `unknown` when macOS does not list the peer's services, or not all of their numbers.
   */
  readonly advertisesRdma: boolean | 'unknown';
  /** The number of docks or hubs in between; 0 for a direct cable. */
  readonly hubsBetween: number;
}

/** A dock, hub or disk: something with a switch UID and no domain of its own. */
export interface ThunderboltDevice {
  /** The name that it reports; `unknown` if that cannot be shown. */
  readonly name: string;
  readonly vendor?: string;
  /** Such as `usb_four_v2` or `thunderbolt_three`. */
  readonly mode?: string;
}

/** One Thunderbolt bus with its single receptacle. */
export interface ThunderboltReceptacle {
  readonly bus: string;
  /** Absent if macOS names none. */
  readonly domainUuid?: string;
  /** As macOS prints it in `receptacle_id_key`; never computed from the bus number. */
  readonly receptacle: number;
  /**
   * `silent`: macOS lists neither a Mac nor a device for the cable, so `peers` and `devices` prove nothing. `unknown`:
   * the description of its bus cannot be read.
   */
  readonly state: 'connected' | 'silent' | 'empty' | 'unknown';
  /** Speed of the cable in bits per second; absent while nothing is connected. */
  readonly linkBitsPerSecond?: number;
  /** The receptacle's maximum speed, from "Up to N Gb/s" while free; absent while connected. */
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
  /** Absent if macOS prints no status line, as for an interface that is down. */
  readonly status?: 'active' | 'inactive';
  /** Members of a bridge; empty for other interfaces. */
  readonly members: readonly string[];
  /** Set on the interface of our SSH connection; on none if that is loopback or unknown. */
  readonly carriesConnection?: true;
}

/** What DHCP gave an interface, from the packet that its client accepted. @see ipconfig(8): getpacket */
export interface DhcpLease {
  readonly address: string;
  /** The IPv4 address of the server, as the server itself states it. */
  readonly server: string;
  /** Counts from the server's last answer; 4,294,967,295 means forever. */
  readonly seconds: number;
}

/** An interface whose DHCP packet was requested. */
export interface DhcpAnswer {
  readonly device: string;
  /** Absent if the interface has no address from DHCP. */
  readonly lease?: DhcpLease;
}

/** One line of the IPv4 routing table. */
export interface Route {
  /** `0.0.0.0/0` for a default route. */
  readonly destination: Ipv4Address;
  /** An IPv4 address, `link#14` for a directly connected network, an Ethernet address, or an interface. */
  readonly gateway: string;
  /** As netstat prints them: `I` is a route only for sockets bound to its interface. @see netstat(1) */
  readonly flags: string;
  readonly device: string;
}

/** One bridge of the network preferences. */
export interface BridgePreference {
  readonly name: string;
  readonly interfaces: readonly string[];
  /** `thunderbolt-bridge` if macOS created it. */
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

/** How a network service gets its IPv4 address, as stored in the network preferences. */
export interface ServiceAddress {
  readonly service: string;
  readonly device: string;
  /** `off`: IPv4 is switched off. */
  readonly method: 'dhcp' | 'manual' | 'off' | 'other';
  /** For `manual`. */
  readonly address?: Ipv4Address;
  /** For `manual`, if set: the IPv4 address of the router. */
  readonly router?: string;
}

/** A file that meshwright wrote on the node. `changed`: its content or mode differs from what was written. */
export interface KeptFile {
  /** The path on a Mac, without a root prefix. */
  readonly path: string;
  /** Digest of the content before rendering. */
  readonly digest: string;
  readonly state: 'intact' | 'changed' | 'missing';
}

/** A published tree: one version of a runtime, or a model. */
export interface KeptTree {
  readonly kind: TreeKind;
  readonly name: string;
  /** The first 16 digits of its digest, which name its folder. */
  readonly digest: string;
  /** The total size in its seal; only for intact trees. */
  readonly whole?: Digest;
  /**
   * Of an intact tree that its node has made by itself: what came out. `python`, its version; `packages`, the digest of
   * all installed files; `library.<path>`, that of one compiled library.
   */
  readonly libraries?: Readonly<Record<string, string>>;
  /** Whether `current` points to it; only for runtimes. */
  readonly isCurrent: boolean;
  /**
   * `changed` when a file was changed, added or lost since it was sealed; `unsealed` when it never was; `staged` while
   * it is only being made ready in its staging folder, beside whatever is published of it.
   */
  readonly state: 'intact' | 'changed' | 'unsealed' | 'staged';
}

/** The result of one token request to an endpoint on its own node. */
export type TokenSight =
  /** Not the leader, or its process does not run. */
  | { readonly kind: 'not-asked' }
  | { readonly kind: 'answered'; readonly text: string }
  /** Not asked, because a request is in flight or a client got a token this long ago. */
  | { readonly kind: 'in-flight'; readonly reason: string; readonly lastTokenMsAgo?: number }
  /** Refused, timed out, not status 200, or not a valid answer. A timeout may mean a busy or a hung mesh. */
  | { readonly kind: 'silent'; readonly reason: string; readonly isTimeout?: true };

/** One rank of a placement as stored on its node. */
export interface RecordedRank extends RankRecord {
  /** Boot session of the last start, and the number of starts in it; empty and 0 before the first one. */
  readonly startedIn: string;
  readonly starts: number;
  /** Whether something listens on {@link RankRecord.port} of this node. */
  readonly isListening: boolean;
  /** The same for {@link RankRecord.meetPort}. */
  readonly isMeeting: boolean;
  readonly token: TokenSight;
  /** The leader's record of the golden answer; absent if there is none. */
  readonly golden?: GoldenRecord;
  /**
   * Lines of its log since its last start that match {@link RankRecord.logPattern}, oldest first: the first and the
   * last ones.
   */
  readonly said: readonly string[];
  /** The log's last line in which a library or the system reports a problem with a device or a peer. */
  readonly complaint?: string;
  readonly lastTalked?: 'tcp'; // over what the start before its last one talked against the file, in the same boot session
  /** The result of its last start when it was stopped; `exited`: the start failed and the program exited by itself. */
  readonly outcome?: StartOutcome | 'exited';
  /** The boot session of an earlier failed start, if the last start was in a different one. */
  readonly failedIn?: string;
  /** The GPU memory limit in the log of its last start; absent if the log does not show it. */
  readonly gpuBytes?: number;
}

/** Our daemon that restores settings that macOS undoes. */
export interface KeeperSight {
  /** Those of its program, data and property list that were written. */
  readonly files: readonly KeptFile[];
  readonly isLoaded: boolean;
  /** Whether macOS kept an SSH session from changing network preferences, so that the keeper does the rest. */
  readonly isRefused: boolean;
  /** The last line of its log: `at=1790000000 wired-limit from=0 to=491520`. */
  readonly lastChange?: string;
}
