import type { ClusterSpec, Runtime as RuntimeSpec } from './cluster-spec.generated.ts';
import type { Digest } from './digest.ts';
import type { Known } from './known.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, LinkEnd, NodeName } from './node.ts';
import type { TreeFile } from './node-script.ts';
import type { ApiKeySource, SecretSource } from './secret.ts';

/** One node as the file wants it; what is absent is left as it is. */
export interface DesiredNode {
  readonly name: NodeName;
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  readonly identityFile?: string;
  /** Where the password of the account comes from; for `enroll` and `unlock` alone. */
  readonly password?: SecretSource;
  readonly hardware: {
    readonly model?: string;
    readonly memoryBytes?: number;
    readonly serial?: string;
  };
  /** Which Mac it was when it was enrolled or converged first, as the lock has it; absent until settled, and if nobody saw it. */
  readonly identity?: Digest;
  readonly labels: Readonly<Record<string, string>>;
  /** That the file wants it left alone; `isOver` once somebody who knows the date has looked. */
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

/** One more file of the controller that belongs to a runtime; published in the root of its tree. */
export interface RuntimeExtra {
  /** Its name in the tree. */
  readonly name: string;
  /** As the file has it; absolute once settled. */
  readonly source: string;
  /** Of the file, and its size; absent until settled. */
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
}

/** Why a source on this computer could not be read, as a sentence. What needs it waits. */
export interface UnreadSource {
  readonly kind: 'missing' | 'unreadable';
  readonly detail: string;
}

/** What every program that runs models has, whatever its driver: an archive of the controller, and what belongs to it. */
export interface RuntimeSource {
  readonly name: string;
  /** As the file has it; absolute once settled. */
  readonly archive: string;
  /** Of the archive, and its size; absent until settled. */
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
  /** Sorted by name. */
  readonly extras: readonly RuntimeExtra[];
  /** Of the tree that is made from all of it; absent until settled. That of the archive where nothing else counts. */
  readonly digest?: Digest;
  /** The version of its archive, where it was taken back to an older one: {@link digest} is that one then. */
  readonly takenBackFrom?: Digest;
  /** Set where its digest is not known for this reason. */
  readonly unread?: UnreadSource;
  /** Set where it was taken back and the lock lacks the keys of that version: those of the file are used. */
  readonly hasFileKeys?: true;
}

/** The word that the file has for a driver. */
export type DriverName = RuntimeSpec['driver'];

/** A program that runs models. What else it has is known to its driver alone, in `runtime.ts` of its folder. */
export interface DesiredRuntime extends RuntimeSource {
  readonly driver: DriverName;
  /** Version of Python, such as `3.12`, where every node builds it from packages; absent where its archive is unpacked. */
  readonly python?: string;
  /** The folder of wheels for nodes without internet, as the file has it; what lies in it is among the extras once settled. */
  readonly wheels?: string;
  /** Versions by the names of packages; absent until settled, and where nobody could read the list. */
  readonly packages?: Readonly<Record<string, string>>;
}

/** Where the files of a model come from. */
export type ModelSource =
  /** A folder of the controller; absolute once settled. */
  | { readonly kind: 'controller'; readonly folder: string }
  /** A folder that is already on each node. */
  | { readonly kind: 'node'; readonly folder: string }
  /** Base of URLs, ending in `/`; without `plainHttp` every address has to be https, redirects included. */
  | { readonly kind: 'url'; readonly base: string; readonly plainHttp?: true };

/** One model. */
export interface DesiredModel {
  readonly name: string;
  /** What others call it: `mlx-community/Kimi-K2-Thinking`; absent where the file does not say. */
  readonly repository?: string;
  readonly source: ModelSource;
  /** Sorted by path. Of a `controller` source without a list in the file: empty until settled. */
  readonly files: readonly TreeFile[];
  /** Code of its own that may be run: the files with their digests; absent where nobody has agreed to any. */
  readonly trustedCode?: Readonly<Record<string, Digest>>;
  /** Set where its files are not known for this reason. */
  readonly unread?: UnreadSource;
  /** Of the list of files; absent until settled. */
  readonly digest?: Digest;
  /** From the headers of its files; absent until settled, and where they cannot be read: */
  readonly shape?: ModelShape;
  /** then why, as the end of "its memory cannot be judged: ". */
  readonly shapeUnknown?: string;
}

/** What a doorman lets in for a placement. */
export interface Publication {
  /** The one model name that clients see and send. */
  readonly servedName: string;
  /** Where its keys come from, at least one; absent where anybody may ask. */
  readonly apiKeys?: readonly ApiKeySource[];
  /** The hashes of all of them; unknown when any cannot be read, absent until they were, and where anybody may ask. */
  readonly keyHashes?: Known<readonly Digest[]>;
  /** IPv4 addresses of the proxies through which clients come; absent where they come directly. */
  readonly proxies?: readonly string[];
}

/** The program before published endpoints: Node, with ours as its one other file. */
export interface DesiredDoorman extends RuntimeSource {
  /** Node itself, by its path in the archive. */
  readonly program: string;
}

/** A model on a group of nodes. */
export interface DesiredPlacement {
  readonly name: string;
  readonly model: string;
  readonly runtime: string;
  /** In rank order; the first is the leader. */
  readonly nodes: readonly NodeName[];
  readonly sharding?: 'tensor' | 'pipeline';
  readonly transport: 'rdma' | 'tcp';
  readonly contextTokens: number;
  /** How many requests are answered at once. */
  readonly parallel: number;
  readonly env: Readonly<Record<string, string>>;
  /** More words for the command line that the driver makes; none where the file makes it. */
  readonly args: readonly string[];
  /** How the layers are divided, a number for each rank; absent where they are equal. */
  readonly shares?: readonly number[];
  /** What would be refused without it; nothing when absent. */
  readonly allow?: readonly 'tight'[];
  /** How mlx talks; absent where the cables and the transport decide. */
  readonly backend?: 'jaccl' | 'jaccl-ring' | 'ring';
  /** TCP port at which clients ask; the doorman's where there is a publication, else the runtime's own. */
  readonly endpointPort: number;
  /** How the office network reaches it; absent where only its node does. */
  readonly publication?: Publication;
  /** From the start of the last rank to the first token. */
  readonly firstTokenMs: number;
  /** Once everything is loaded; absent where the file expects nothing. */
  readonly tokensPerSecond?: number;
  readonly state: 'serving' | 'stopped';
  /** Where else it may be started when its own nodes cannot carry it; absent where the file names none. */
  readonly fallback?: { readonly nodes: readonly NodeName[]; readonly contextTokens: number };
  /** Of a placement that is taken on its fallback: the same as the file has it. Such a one has no `fallback` itself. */
  readonly home?: DesiredPlacement;
  /** Of a placement that is to be stopped and is taken as it runs until then: where it may have a process, of `nodes` or not. */
  readonly lingersOn?: readonly NodeName[];
}

type FileSystem = NonNullable<ClusterSpec['system']>;

/** Settings of macOS as the file has them; one is absent where the file leaves it as it is. */
export type WishedSettings = {
  readonly [K in Exclude<keyof FileSystem, 'wiredLimit' | 'fileVault' | 'accounts' | 'keeper'>]?: Exclude<
    FileSystem[K],
    'keep' | 'any' | undefined
  >;
};

/** The whole file with its defaults filled in: what every later stage compares the observation with. */
export interface DesiredFleet {
  readonly name: string;
  /** Set by `--allow rdma-start` and by no file: a spent launch budget keeps no placement from being started. */
  readonly mayPassBudget?: true;
  /** Sorted by name. */
  readonly nodes: readonly DesiredNode[];
  readonly macos: {
    readonly version?: string;
    readonly accept?: string;
    /** Whether macOS may install its own updates; absent where the file leaves it as it is. */
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
    /** The accounts of ranks and gateways. One that is absent is the ssh user. */
    readonly accounts: { readonly ranks?: string; readonly gateway?: string };
    /** There where the file has something for it to keep; absent where the file wants none. */
    readonly keeper?: 'auto';
  };
  readonly thunderbolt: {
    /** `remove` unless the file says otherwise or has no `thunderbolt` section at all. */
    readonly bridge: 'remove' | 'keep' | 'verify';
    /** What becomes of network daemons of others; absent where the file does not say. */
    readonly foreignDaemons?: 'adopt' | 'remove' | 'stop';
    readonly rdma: 'auto' | 'required';
    readonly pool?: Ipv4Network;
    /** Every receptacle to be warned about: the file's own and the product's. */
    readonly avoid: readonly LinkEnd[];
    readonly links: readonly Link[];
    /**
     * The /30 of each link, by {@link Link.index}; its first address is for the end whose text comes first. Empty until
     * settled.
     */
    readonly networks: Readonly<Record<number, Ipv4Network>>;
    /** Links that get no network yet, by {@link Link.index}: the ends at which nobody could see what is in use. */
    readonly waiting?: Readonly<Record<number, readonly NodeName[]>>;
    /** Networks of links that were declared once: their addresses are taken away. */
    readonly formerNetworks: readonly Ipv4Network[];
  };
  readonly doorman?: DesiredDoorman;
  /** Sorted by name, as the next two. */
  readonly runtimes: readonly DesiredRuntime[];
  readonly models: readonly DesiredModel[];
  readonly placements: readonly DesiredPlacement[];
}
