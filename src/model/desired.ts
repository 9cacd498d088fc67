import type {
  ClusterSpec,
  Node as NodeSpec,
  Placement as PlacementSpec,
  Runtime as RuntimeSpec,
} from './cluster-spec.generated.ts';
import type { Digest } from './digest.ts';
import type { Known } from './known.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, LinkEnd, NodeName } from './node.ts';
import type { TreeFile } from './node-script.ts';
import type { ApiKeySource, SecretSource } from './secret.ts';

/** One node's desired state; absent fields stay unchanged. */
export interface DesiredNode extends Readonly<Pick<NodeSpec, 'host' | 'user' | 'port' | 'identityFile'>> {
  readonly name: NodeName;
  /** The source of the account's password; only for `enroll` and `unlock`. */
  readonly password?: SecretSource;
  readonly hardware: {
    readonly model?: string;
    readonly memoryBytes?: number;
    readonly serial?: string;
  };
  /**
   * The node's identity in the lock, from its first enroll or apply; absent until resolved, and if it was never seen.
   */
  readonly identity?: Digest;
  readonly labels: Readonly<Record<string, string>>;
  /** The hold in the file; `isOver` is set by the caller that knows the date. */
  readonly hold?: { readonly reason: string; readonly until?: string; readonly isOver?: true };
}

/** An IPv4 network; `prefixLength` 0 to 32. */
export interface Ipv4Network {
  readonly address: string;
  readonly prefixLength: number;
}

/** How much memory the GPU may wire. */
export type DesiredWiredLimit =
  | { readonly kind: 'auto' }
  | { readonly kind: 'default' }
  | { readonly kind: 'bytes'; readonly bytes: number };

/** An extra file of a runtime, from the controller; published under its name in the root of its tree. */
export interface RuntimeExtra extends Pick<RuntimeSource, 'name' | 'sha256' | 'sizeBytes'> {
  /** As the file has it; absolute once settled. */
  readonly source: string;
}

/** Why a source on this computer could not be read, as a sentence. Everything that needs it waits. */
export interface UnreadSource {
  readonly kind: 'missing' | 'unreadable';
  readonly detail: string;
}

/** Common to all runtimes: an archive on the controller, with its extra files. */
export interface RuntimeSource {
  readonly name: string;
  /** As the file has it; absolute once settled. */
  readonly archive: string;
  /** Of the archive or the file, and its size; absent until settled. */
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
  /** Sorted by name. */
  readonly extras: readonly RuntimeExtra[];
  /** Digest of the resulting tree; absent until resolved. Equal to the archive's digest if nothing else counts. */
  readonly digest?: Digest;
  /** The archive's version if the runtime was rolled back; {@link digest} is then the older version. */
  readonly takenBackFrom?: Digest;
  /** The reason if its digest is unknown. */
  readonly unread?: UnreadSource;
  /** Set if it was rolled back and the lock lacks that version's keys, so that the file's keys are used. */
  readonly hasFileKeys?: true;
}

/** A driver's name in the file. */
export type DriverName = RuntimeSpec['driver'];

/** A program that runs models. Only its driver knows its other keys, in `runtime.ts` of the driver's folder. */
export interface DesiredRuntime extends RuntimeSource {
  readonly driver: DriverName;
  /**
   * The Python version, such as `3.12`, if nodes build the runtime from packages; absent if its archive is unpacked.
   */
  readonly python?: string;
  /** The folder of wheels for nodes without internet, as in the file; its contents become extras once resolved. */
  readonly wheels?: string;
  /** Package versions by name; absent until resolved, and if the list could not be read. */
  readonly packages?: Readonly<Record<string, string>>;
}

/** The source of a model's files. */
export type ModelSource =
  /** A folder on the controller; absolute once resolved. */
  | { readonly kind: 'controller'; readonly folder: string }
  /** A folder that is already on each node. */
  | { readonly kind: 'node'; readonly folder: string }
  /** Base of URLs, ending in `/`; without `plainHttp` every address has to be https, redirects included. */
  | { readonly kind: 'url'; readonly base: string; readonly plainHttp?: true };

/** One model. */
export interface DesiredModel {
  readonly name: string;
  /** Its repository name: `mlx-community/Kimi-K2-Thinking`; absent if not in the file. */
  readonly repository?: string;
  readonly source: ModelSource;
  /** Sorted by path. Of a `controller` source without a list in the file: empty until settled. */
  readonly files: readonly TreeFile[];
  /** The model's approved code files with their digests; absent if no code was approved. */
  readonly trustedCode?: Readonly<Record<string, Digest>>;
  /** The reason if its files are unknown. */
  readonly unread?: UnreadSource;
  /** Of the list of files; absent until settled. */
  readonly digest?: Digest;
  /** From the headers of its files; absent until settled, and where they cannot be read: */
  readonly shape?: ModelShape;
  /** then why, as the end of "its memory cannot be judged: ". */
  readonly shapeUnknown?: string;
}

/** How a gateway publishes a placement. */
export interface Publication {
  /** The model name that clients see and send. */
  readonly servedName: string;
  /** The sources of its API keys, at least one; absent if no key is required. */
  readonly apiKeys?: readonly ApiKeySource[];
  /** The hashes of all keys; unknown if any key cannot be read; absent until read, and if no key is required. */
  readonly keyHashes?: Known<readonly Digest[]>;
  /** IPv4 addresses of the proxies in front of it; absent if clients connect directly. */
  readonly proxies?: readonly string[];
}

/** The API gateway in front of published endpoints: Node, with our program as its only extra file. */
export interface DesiredGateway extends RuntimeSource {
  /** The path of Node in the archive. */
  readonly program: string;
}

/** A model on a group of nodes. */
export interface DesiredPlacement
  extends Readonly<Pick<PlacementSpec, 'model' | 'runtime' | 'sharding' | 'transport'>> {
  readonly name: string;
  /** In rank order; the first is the leader. */
  readonly nodes: readonly NodeName[];
  readonly contextTokens: number;
  /** Maximum number of parallel requests. */
  readonly parallel: number;
  readonly env: Readonly<Record<string, string>>;
  /** Extra arguments for the driver's command line; empty if the file sets the command line. */
  readonly args: readonly string[];
  /** The layers per rank; absent if equal. */
  readonly shares?: readonly number[];
  /** Explicitly allowed risks; default: none. */
  readonly allow?: readonly 'tight'[];
  /** The mlx backend; absent if cables and transport decide. */
  readonly backend?: 'jaccl' | 'jaccl-ring' | 'ring';
  /** TCP port for clients: the gateway's if published, otherwise the runtime's. */
  readonly endpointPort: number;
  /** Its publication on the office network; absent if only its own node can reach it. */
  readonly publication?: Publication;
  /** From the start of the last rank to the first token. */
  readonly firstTokenMs: number;
  /** The expected minimum speed once loaded; absent if the file sets none. */
  readonly tokensPerSecond?: number;
  readonly state: 'serving' | 'stopped';
  /** The fallback if its own nodes cannot run it; absent if the file has none. */
  readonly fallback?: { readonly nodes: readonly NodeName[]; readonly contextTokens: number };
  /** For a placement moved to its fallback: the placement in the file. It then has no `fallback` itself. */
  readonly home?: DesiredPlacement;
  /** For a placement to stop, described as it runs until then: all nodes that may have its processes. */
  readonly lingersOn?: readonly NodeName[];
}

type FileSystem = NonNullable<ClusterSpec['system']>;

/** Desired macOS settings; absent ones stay unchanged. */
export type WishedSettings = {
  readonly [K in Exclude<keyof FileSystem, 'wiredLimit' | 'fileVault' | 'accounts' | 'keeper'>]?: Exclude<
    FileSystem[K],
    'keep' | 'any' | undefined
  >;
};

/** The file with its defaults: the desired state that observations are compared with. */
export interface DesiredFleet {
  readonly name: string;
  /** Set only by `--allow rdma-start`: a spent launch budget does not block starts. */
  readonly mayPassBudget?: true;
  /** Sorted by name. */
  readonly nodes: readonly DesiredNode[];
  readonly macos: {
    readonly version?: string;
    readonly accept?: string;
    /** Whether macOS may install updates by itself; absent to leave this unchanged. */
    readonly automaticUpdates?: 'disabled';
  };
  readonly power: {
    /** 0 is never. */
    readonly sleepMinutes?: number;
    readonly restartAfterPowerLoss?: boolean;
  };
  readonly system: WishedSettings & {
    readonly wiredLimit?: DesiredWiredLimit;
    readonly fileVault: 'any' | 'enabled' | 'disabled';
    /** The accounts of ranks and gateways; an absent one means the SSH user. */
    readonly accounts: { readonly ranks?: string; readonly gateway?: string };
    /** Set if the file has settings for the keeper and does not disable it. */
    readonly keeper?: 'auto';
  };
  readonly thunderbolt: {
    /** `remove` unless the file sets it or has no `thunderbolt` section. */
    readonly bridge: 'remove' | 'keep' | 'verify';
    /** How to handle foreign network daemons; absent if not in the file. */
    readonly foreignDaemons?: 'adopt' | 'remove' | 'stop';
    readonly rdma: 'auto' | 'required';
    readonly pool?: Ipv4Network;
    /** Receptacles to warn about: from the file and built in. */
    readonly avoid: readonly LinkEnd[];
    readonly links: readonly Link[];
    /**
     * The /30 of each link, by {@link Link.index}; the end whose text sorts first has the first address. Empty until
     * resolved.
     */
    readonly networks: Readonly<Record<number, Ipv4Network>>;
    /** Links without a network yet, by {@link Link.index}: the nodes whose used networks are unknown. */
    readonly waiting?: Readonly<Record<number, readonly NodeName[]>>;
    /** Networks of formerly declared links; apply removes their addresses. */
    readonly formerNetworks: readonly Ipv4Network[];
  };
  readonly gateway?: DesiredGateway;
  /** Sorted by name, as the next two. */
  readonly runtimes: readonly DesiredRuntime[];
  readonly models: readonly DesiredModel[];
  readonly placements: readonly DesiredPlacement[];
}
