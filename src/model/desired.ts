import type {
  ClusterSpec,
  Node as NodeSpec,
  Placement as PlacementSpec,
  Runtime as RuntimeSpec,
} from './cluster-spec.generated.ts';
import type { Digest } from './digest.ts';
import type { Known } from './known.ts';
import type { MeasuredLink } from './measured-cable.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, LinkEnd, NodeName } from './node.ts';
import type { DownloadHours, TreeFile } from './node-script.ts';
import type { ApiKeySource, SecretSource } from './secret.ts';
import type { Prose } from './text/prose.ts';

/** One node's desired state; absent fields are left unchanged. */
export interface DesiredNode extends Readonly<Pick<NodeSpec, 'host' | 'user' | 'port' | 'identityFile'>> {
  readonly name: NodeName;
  /** Source of the account's password; used only by `enroll` and `unlock`. */
  readonly password?: SecretSource;
  readonly hardware: { readonly model?: string; readonly memoryBytes?: number; readonly serial?: string };
  /** The node's identity in the lock, from its first enroll or apply; absent until then. */
  readonly identity?: Digest;
  readonly labels: Readonly<Record<string, string>>;
  /** The hold in the file; the caller, which has the date, sets `isOver`. */
  readonly hold?: { readonly reason: string; readonly until?: string; readonly isOver?: true };
  readonly outlet?: DesiredOutlet;
}

type ControllerCommand = Extract<SecretSource, { readonly kind: 'command' }>;

/** The switched power outlet of a Mac, with the controller's programs that switch it and print its state. */
export interface DesiredOutlet extends Readonly<Record<'on' | 'off' | 'state', ControllerCommand>> {
  /** As in the file: `rack-pdu/4`. */
  readonly name: string;
}

/** An IPv4 network; `prefixLength` 0 to 32. */
export interface Ipv4Network {
  readonly address: string;
  readonly prefixLength: number;
}

export type DesiredWiredLimit =
  | { readonly kind: 'auto' }
  | { readonly kind: 'default' }
  | { readonly kind: 'bytes'; readonly bytes: number };

/** An extra file for a runtime, from the controller; published under its name in the root of the runtime's tree. */
export interface RuntimeExtra extends Pick<RuntimeSource, 'name' | 'sha256' | 'sizeBytes'> {
  /** As in the file; absolute once settled. */
  readonly source: string;
  /**
   * Present if the file names only a package: `apply` makes this list of packages on a node, and, for a package from
   * {@link ListedPackage.source}, its wheel.
   */
  readonly lists?: ListedPackage;
}

/** A package whose complete list, with all dependencies and hashes, is made on a node. */
export interface ListedPackage {
  /** As on the package index, such as `mlx-lm`. */
  readonly name: string;
  /** Absent for a package from {@link source}. */
  readonly version?: string;
  /** The Python version, such as `3.12`. */
  readonly python: string;
  /** Present if a node builds the package from a commit. */
  readonly source?: PackageSource;
}

/** Programs that a node builds from a commit, and that are then installed like an archive on this computer. */
export interface BuiltProgram {
  /** Such as `llama.cpp`. */
  readonly name: string;
  readonly source: PackageSource;
}

/** A commit on GitHub. The digest and size are those of its archive, and absent until settled. */
export interface PackageSource {
  /** `owner/name`. */
  readonly repository: string;
  /** All 40 digits. */
  readonly commit: string;
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
}

/** A source that could not be read, with the reason as a sentence. Everything that needs the source waits. */
export interface UnreadSource {
  /** `unresolved`: a server did not say what the name stands for. */
  readonly kind: 'missing' | 'unreadable' | 'unresolved';
  readonly detail: string;
  /** What to do, if the code's hint is too general. */
  readonly hint?: Prose;
}

/** An archive with an unknown digest. `to-list`: `apply` first makes a list of packages; `unlisted`: it has tried. */
export interface UnreadArchive extends Omit<UnreadSource, 'kind'> {
  readonly kind: UnreadSource['kind'] | 'no-release' | 'to-list' | 'unlisted' | 'to-build' | 'unbuilt';
}

/** An archive on a server, which the nodes download. */
export interface Release {
  /** Its URL without a mirror, as in the lock. */
  readonly url: string;
  /** The URL that is used: the mirror's, if the file names a mirror. */
  readonly from: string;
  /** The page with its digest; absent if the server is the site's own. `name` is the archive's name on that page. */
  readonly page?: { readonly kind: 'github' | 'shasums'; readonly url: string; readonly name: string };
  /** The values in the list of known releases. */
  readonly known?: { readonly sha256: Digest; readonly sizeBytes?: number };
  readonly plainHttp?: true;
}

/** The part that all runtimes have in common: an archive, with extra files from the controller. */
export interface RuntimeSource {
  readonly name: string;
  /** A path on the controller, as in the file and absolute once settled; or the URL of {@link release}. */
  readonly archive: string;
  /** Absent for an archive on the controller. */
  readonly release?: Release;
  /** Present if `apply` makes the archive: a node builds it from a commit. */
  readonly builds?: BuiltProgram;
  /** The archive's SHA-256 and size; absent until settled. */
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
  /** Sorted by name. */
  readonly extras: readonly RuntimeExtra[];
  /** Digest of the resulting tree; absent until settled. If only the archive affects it, the archive's digest. */
  readonly digest?: Digest;
  /** The archive's version, if the runtime was rolled back; {@link digest} is then the older version. */
  readonly rolledBackFrom?: Digest;
  /** Present if the digest is unknown: the source that could not be read. */
  readonly unread?: UnreadArchive;
  /** Set if the runtime was rolled back but the lock lacks that version's keys, so that the file's keys are used. */
  readonly hasFileKeys?: true;
}

export type DriverName = RuntimeSpec['driver'];

/** A program that runs models. The other keys are specific to the driver: see `runtime.ts` in the driver's folder. */
export interface DesiredRuntime extends RuntimeSource {
  readonly driver: DriverName;
  /** The Python version, such as `3.12`, for a runtime built from packages; absent for an archive. */
  readonly python?: string;
  /** The folder of wheels for nodes without internet, as in the file; its contents become extras once settled. */
  readonly wheels?: string;
  /** Package versions by name; absent until settled, and if the package list could not be read. */
  readonly packages?: Readonly<Record<string, string>>;
}

export type ModelSource =
  /** A folder on the controller; absolute once settled. */
  | { readonly kind: 'controller'; readonly folder: string }
  /** A folder that is already on each node. */
  | { readonly kind: 'node'; readonly folder: string }
  /**
   * A base URL that ends in `/`. Without `plainHttp`, every URL must be https, including redirects. With `secret`, the
   * server gets the token of `secrets.huggingface`, although it needs none if `access` is public.
   */
  | {
      readonly kind: 'url';
      readonly base: string;
      readonly plainHttp?: true;
      readonly secret?: true;
      readonly access?: 'public';
    }
  /** A repository whose commit is unknown. Once settled, the source is the URL of its commit. */
  | { readonly kind: 'hub' };

/** The kinds of sources of bytes: those of models, and a release, which is an archive on a server. */
export type SourceKind = ModelSource['kind'] | 'release';

export interface HubSource {
  /** The source as in the file, followed by its patterns. The lock's entry is valid only for this text. */
  readonly text: string;
  /** `organization/name`. */
  readonly repository: string;
  /** A branch, a tag, or a commit. */
  readonly revision: string;
  /** Patterns of the files to use; absent for the files that runtimes read. */
  readonly include?: readonly string[];
  /** The commit in the lock, or the one just resolved; absent until settled. */
  readonly commit?: string;
}

export interface DesiredModel {
  readonly name: string;
  /** The model's repository name, such as `mlx-community/Kimi-K2-Thinking`; absent if not in the file. */
  readonly repository?: string;
  readonly source: ModelSource;
  /** The repository that the files come from; absent for other sources. */
  readonly hub?: HubSource;
  /** The URL in the file, whose `SHA256SUMS` lists the files; absent if the file lists them, and for other sources. */
  readonly listedAt?: string;
  /** Sorted by path. If the file has no list, empty until settled. */
  readonly files: readonly TreeFile[];
  /** The model's approved code files, with their digests; absent if no code was approved. */
  readonly trustedCode?: Readonly<Record<string, Digest>>;
  /** More folders on the nodes where copies of the model may be, or `never` to use no copies. */
  readonly adopt?: 'never' | readonly string[];
  /** Present if the files are unknown: the source that could not be read. */
  readonly unread?: UnreadSource;
  /** Digest of the file list; absent until settled. */
  readonly digest?: Digest;
  /** From the headers of the model's files; absent until settled, and if they cannot be read. */
  readonly shape?: ModelShape;
  /** Why the headers cannot be read, as the end of "its memory cannot be judged: ". */
  readonly shapeUnknown?: string;
}

/** How a gateway passes clients' requests on to a placement. */
export interface Publication {
  /** Set if the gateway listens only on its own node: the file does not publish the endpoint. */
  readonly isLocal?: true;
  /** The model name that clients see and send. */
  readonly servedName: string;
  /** Sources of the API keys, at least one; absent if no key is required. */
  readonly apiKeys?: readonly ApiKeySource[];
  /** Hashes of all keys: unknown if any key cannot be read; absent before they are read, and if no key is required. */
  readonly keyHashes?: Known<readonly Digest[]>;
  /** IPv4 addresses of the proxies in front of the gateway; absent if clients connect directly. */
  readonly proxies?: readonly string[];
}

/** The API gateway in front of published endpoints: Node.js, with our program as its only extra file. */
export interface DesiredGateway extends RuntimeSource {
  /** Path of Node.js in the archive. */
  readonly program: string;
}

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
  /** Number of layers per rank; absent if equal. */
  readonly shares?: readonly number[];
  /** The name of the small model that drafts answers for `model` to check; absent if there is none. */
  readonly drafter?: string;
  /** The nodes with a role of their own; absent if there is none. */
  readonly roles?: { readonly prefill?: NodeName };
  /** Explicitly allowed risks; default: none. */
  readonly allow?: readonly 'tight'[];
  /** The mlx backend; absent if the cables and the transport determine it. */
  readonly backend?: 'jaccl' | 'jaccl-ring' | 'ring';
  /** TCP port for clients: the gateway's if published, otherwise the runtime's. */
  readonly endpointPort: number;
  /** The gateway in front of the runtime; absent if clients on its node reach the runtime itself. */
  readonly publication?: Publication;
  /** Maximum time from the start of the last rank to the first token. */
  readonly firstTokenMs: number;
  /** The expected minimum speed once loaded; absent if the file sets none. */
  readonly tokensPerSecond?: number;
  readonly state: 'serving' | 'stopped';
  /** The fallback for when the placement's own nodes cannot run it; absent if the file has none. */
  readonly fallback?: { readonly nodes: readonly NodeName[]; readonly contextTokens: number };
  /** For one of several replicas: the placement in the file, and its place in the order of `nodes`, counted from 0. */
  readonly replica?: { readonly of: string; readonly at: number };
  /** For a placement that was moved to its fallback: the placement in the file. `fallback` is then absent. */
  readonly ownLayout?: DesiredPlacement;
  /** For a placement that will be stopped, described as it runs now: all nodes that may have its processes. */
  readonly lingersOn?: readonly NodeName[];
}

type FileSystem = NonNullable<ClusterSpec['system']>;

/** Desired macOS settings; absent settings are left unchanged. */
export type DesiredSettings = {
  readonly [K in Exclude<keyof FileSystem, 'wiredLimit' | 'fileVault' | 'accounts' | 'keeper'>]?: Exclude<
    FileSystem[K],
    'keep' | 'any' | undefined
  >;
};

export interface DesiredDownloads {
  /** The server that replaces every other host; see `mirrored`. */
  readonly mirror?: string;
  readonly plainHttp?: true;
  /** The highest rate of all nodes' model downloads together. */
  readonly maxBytesPerSecond?: number;
  /** The hours of each day in which nodes may download models. */
  readonly hours?: DownloadHours;
  /** The Mac that downloads a model for the others to which it is cabled. */
  readonly via?: NodeName;
  /** The source of the Hugging Face token; absent if the file has none. */
  readonly token?: ApiKeySource;
}

/** `ready`, or why not: no source of the password, none from it, no pinned key, a refused password, or it runs here. */
export type UnlockReadiness = 'ready' | 'no-source' | 'no-password' | 'no-key' | 'refused' | 'this-computer';

/** The file with its defaults: the desired state, with which observations are compared. */
export interface DesiredFleet {
  readonly name: string;
  readonly downloads?: DesiredDownloads;
  /** Set only by `--allow rdma-start`: starts are then allowed even if the launch budget is spent. */
  readonly mayPassBudget?: true;
  /** Whether this run can unlock each Mac at FileVault without a person; set only for a command that restarts Macs. */
  readonly unlocks?: Readonly<Record<string, UnlockReadiness>>;
  /** The native probe for the nodes, as Base64; absent if this computer has none, or if no runtime uses it. */
  readonly nativeProgram?: string;
  /** Names of runtime versions in the lock, such as `1.0.71`, by the first digits of their digests. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Sorted by name. */
  readonly nodes: readonly DesiredNode[];
  readonly macos: {
    readonly version?: string;
    readonly accept?: string;
    /** Set if `softwareupdate`, with the password of the SSH user, or a program installs updates; else a person does. */
    readonly updateDriver?: 'softwareupdate' | ControllerCommand;
    /** Whether macOS may install updates automatically; absent to leave the setting unchanged. */
    readonly automaticUpdates?: 'disabled';
  };
  readonly power: {
    /** 0 means never. */
    readonly sleepMinutes?: number;
    readonly restartAfterPowerLoss?: boolean;
  };
  readonly system: DesiredSettings & {
    readonly wiredLimit?: DesiredWiredLimit;
    readonly fileVault: 'any' | 'enabled' | 'disabled';
    /** The accounts for ranks, gateways and model transfers. Absent means the SSH user, and root for transfers. */
    readonly accounts: { readonly ranks?: string; readonly gateway?: string; readonly transfers?: string };
    /** Set if the file has settings for the keeper and does not disable it. */
    readonly keeper?: 'auto';
  };
  readonly thunderbolt: {
    /** Defaults to `remove` if the file has a `thunderbolt` section. */
    readonly bridge: 'remove' | 'keep' | 'verify';
    /** How to handle foreign daemons; absent if not in the file. */
    readonly foreignDaemons?: 'adopt' | 'remove' | 'stop';
    readonly rdma: 'auto' | 'required';
    readonly pool?: Ipv4Network;
    /** Receptacles to warn about, both built in and from the file. */
    readonly avoid: readonly LinkEnd[];
    readonly links: readonly Link[];
    /**
     * Each link's /30 network, by {@link Link.index}; empty until settled. The end that sorts first has the first
     * address.
     */
    readonly networks: Readonly<Record<number, Ipv4Network>>;
    /** This computer's newest measurement of links, by {@link Link.index}. */
    readonly measured?: Readonly<Record<number, MeasuredLink>>;
    /** True if this computer has the program that measures cables. */
    readonly canMeasure?: boolean;
    /** For links that do not have a network yet, by {@link Link.index}: the nodes whose used networks are unknown. */
    readonly waiting?: Readonly<Record<number, readonly NodeName[]>>;
    /** Networks of formerly declared links; apply removes the addresses in them. */
    readonly formerNetworks: readonly Ipv4Network[];
  };
  readonly gateway?: DesiredGateway;
  /** Sorted by name, like models and placements. */
  readonly runtimes: readonly DesiredRuntime[];
  readonly models: readonly DesiredModel[];
  readonly placements: readonly DesiredPlacement[];
}
