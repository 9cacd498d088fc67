import type { Digest } from '../digest.ts';
import type {
  FactsBridgePreferences,
  FactsDhcpLeases,
  FactsFiles,
  FactsInterfaces,
  FactsKeeper,
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

// The values of facts are what `schemas/facts.schema.json` describes, field by field.

/** One Thunderbolt bus with its single receptacle, as macOS numbers it in `receptacle_id_key`. */
export type ThunderboltReceptacle = FactsReceptacle;

/**
 * A Mac seen at the far end of a cable. It advertises RDMA by protocol 64087; `unknown` when macOS does not list its
 * services, or not all of their numbers.
 */
export type ThunderboltPeer = ThunderboltReceptacle['peers'][number];

/** A dock, hub or disk: something with a switch UID and no domain of its own. */
export type ThunderboltDevice = ThunderboltReceptacle['devices'][number];

/** One interface of `ifconfig -a`. On none is `carriesConnection` set if our SSH connection is loopback or unknown. */
export type NetworkInterface = ItemOf<FactsInterfaces>;

/** An IPv4 address of an interface; `prefixLength` 0 to 32. */
export type Ipv4Address = NetworkInterface['ipv4'][number];

/** An interface whose DHCP packet was requested. */
export type DhcpAnswer = ItemOf<FactsDhcpLeases>;

/** What DHCP gave an interface, from the packet that its client accepted. @see ipconfig(8): getpacket */
export type DhcpLease = NonNullable<DhcpAnswer['lease']>;

/** One line of the IPv4 routing table. The flag `I` is a route only for sockets bound to its interface. @see netstat(1) */
export type Route = ItemOf<FactsRoutes>;

/** One bridge of the network preferences. */
export type BridgePreference = ItemOf<FactsBridgePreferences>;

/** One network service, in the order in which macOS tries them. */
export type NetworkService = ItemOf<FactsNetworkServices>;

/** How a network service gets its IPv4 address, as stored in the network preferences; `off`: IPv4 is switched off. */
export type ServiceAddress = ItemOf<FactsServiceAddresses>;

/** A file that meshwright wrote on the node. `changed`: its content or mode differs from what was written. */
export type KeptFile = ItemOf<FactsFiles>;

/**
 * A published tree: one version of a runtime, or a model. `staged` while it is only being made ready in its staging
 * folder, beside whatever is published of it.
 */
export interface KeptTree extends Omit<ItemOf<FactsTrees>, 'whole'> {
  /** The total size in its seal; only for intact trees. */
  readonly whole?: Digest;
}

/** What an observation adds to the record of a rank. */
type SeenOfRank =
  | ('startedIn' | 'starts' | 'isListening' | 'isMeeting' | 'token' | 'said' | 'complaint')
  | ('lastTalked' | 'outcome' | 'failedIn' | 'gpuBytes' | 'golden');

/**
 * What a rank of a placement leaves on its node, so that every later observation can judge it. `tokenPath` and the pointers
 * say where one token is asked; awk selects lines of its log by `logPattern`.
 */
export interface RankRecord extends Omit<ItemOf<FactsPlacements>, SeenOfRank | 'digest'> {
  /** Of everything that makes the placement what it is; equal on all nodes. */
  readonly digest: Digest;
}

/** One rank of a placement as stored on its node. */
export interface RecordedRank extends RankRecord, Omit<Pick<ItemOf<FactsPlacements>, SeenOfRank>, 'golden'> {
  /** The leader's record of the golden answer; absent if there is none. */
  readonly golden?: GoldenRecord;
}

/**
 * The result of one token request to an endpoint on its own node. `silent`: refused, timed out, not status 200, or not a
 * valid answer; a timeout may mean a busy or a hung mesh.
 */
export type TokenResult = RecordedRank['token'];

/** Our daemon that restores settings that macOS undoes. The last change reads `at=1790000000 wired-limit from=0 to=491520`. */
export type KeeperObservation = FactsKeeper;
