import type { Digest } from '../digest.ts';
import type {
  FactsBridgePreferences,
  FactsDhcpLeases,
  FactsFiles,
  FactsInterfaces,
  FactsKeeper,
  FactsModelCopies,
  FactsNetworkServices,
  FactsPlacements,
  FactsReceptacle,
  FactsRoutes,
  FactsServiceAddresses,
  FactsTrees,
} from '../documents.generated.ts';
import type { GoldenRecord } from '../endpoint-calls.ts';
import type { ItemOf } from '../given.ts';
import type { Known } from '../known.ts';
import type { NodeName } from '../node.ts';

/** All facts of one node at one instant, by name, known or unknown. Read a fact through its definition. */
export type Facts = Readonly<Record<string, Known<unknown>>>;

/** One observation of one node. */
export interface NodeObservation {
  readonly node: NodeName;
  readonly facts: Facts;
}

// `schemas/facts.schema.json` describes the fields of these values.

/** One Thunderbolt bus with its single receptacle, as macOS numbers it in `receptacle_id_key`. */
export type ThunderboltReceptacle = FactsReceptacle;

/** A Mac at the far end of a cable. It advertises RDMA as protocol 64087; `unknown` if macOS lists no services. */
export type ThunderboltPeer = ThunderboltReceptacle['peers'][number];

/** A dock, hub or disk: a device with a switch UID but without a domain. */
export type ThunderboltDevice = ThunderboltReceptacle['devices'][number];

/** An interface in `ifconfig -a`. `carriesConnection` is never set if our SSH connection is loopback or unknown. */
export type NetworkInterface = ItemOf<FactsInterfaces>;

/** An IPv4 address of an interface; `prefixLength` 0 to 32. */
export type Ipv4Address = NetworkInterface['ipv4'][number];

/** An interface whose DHCP lease was queried. */
export type DhcpAnswer = ItemOf<FactsDhcpLeases>;

/** An interface's DHCP lease, from the packet that its client accepted. @see ipconfig(8): getpacket */
export type DhcpLease = NonNullable<DhcpAnswer['lease']>;

/** A line of the IPv4 routing table. Flag `I`: only for sockets bound to the route's interface. @see netstat(1) */
export type Route = ItemOf<FactsRoutes>;

/** One bridge in the network preferences. */
export type BridgePreference = ItemOf<FactsBridgePreferences>;

/** One network service, in the order in which macOS tries them. */
export type NetworkService = ItemOf<FactsNetworkServices>;

/** How a network service gets its IPv4 address, from the network preferences; `off`: IPv4 is disabled. */
export type ServiceAddress = ItemOf<FactsServiceAddresses>;

/** A file that meshwright installed on the node. `changed`: its content or mode differs from the installed file. */
export type InstalledFile = ItemOf<FactsFiles>;

/** A published version of a runtime or model. `staged`: still being built; an older version can be published too. */
export interface ObservedTree extends Omit<ItemOf<FactsTrees>, 'whole'> {
  /** The tree's complete digest; only for intact trees. */
  readonly whole?: Digest;
}

/** A folder of other software that may have a model of the file. */
export type CopyFolder = FactsModelCopies['folders'][number];

/** The fields that an observation adds to a rank's record. */
type SeenOfRank =
  | ('startedIn' | 'starts' | 'isListening' | 'isMeeting' | 'token' | 'said' | 'complaint')
  | ('lastTalked' | 'outcome' | 'failedIn' | 'gpuBytes' | 'golden');

/**
 * A rank's record on its node, so that later observations can evaluate the rank. `tokenPath` and the pointers define
 * how to request one token. awk selects lines of the rank's log by `logPattern`.
 */
export interface RankRecord extends Omit<ItemOf<FactsPlacements>, SeenOfRank | 'digest'> {
  /** Digest of everything that defines the placement; the same on all its nodes. */
  readonly digest: Digest;
}

/** One rank: its record and its observed state. */
export interface RecordedRank extends RankRecord, Omit<Pick<ItemOf<FactsPlacements>, SeenOfRank>, 'golden'> {
  /** The leader's record of the golden answer; absent if there is none. */
  readonly golden?: GoldenRecord;
}

/** The result of asking the leader for one token. `silent`: refused, timed out or invalid; the mesh can be hung. */
export type TokenResult = RecordedRank['token'];

/** The keeper on a node. Its last change reads `at=1790000000 wired-limit from=0 to=491520`. */
export type KeeperObservation = FactsKeeper;
