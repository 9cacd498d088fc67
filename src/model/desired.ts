import type { Digest } from './digest.ts';
import type { Link, LinkEnd } from './link.ts';
import type { NodeName } from './node.ts';
import type { TreeFile } from './node-script.ts';
import type { SecretSource } from './secret.ts';

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

/** A program that runs models, in an archive of the controller. */
export interface DesiredRuntime {
  readonly name: string;
  readonly driver: 'command';
  /** As the file has it; absolute once settled. */
  readonly archive: string;
  /** Of the archive, and its size; absent until settled. */
  readonly sha256?: Digest;
  readonly sizeBytes?: number;
  /** Words with `{field}`s: the command line of one rank. */
  readonly command: readonly string[];
  readonly order: 'leader-first' | 'followers-first' | 'together';
  /** Whether one dead member restarts all of them, or only itself. */
  readonly restart: 'group' | 'node';
  /** TCP port, as text with `{field}`s, on which a started member listens when it counts as joined. */
  readonly joinedListening: string;
  readonly token: { readonly path: string; readonly json: string };
}

/** Where the files of a model come from. */
export type ModelSource =
  /** A folder of the controller; absolute once settled. */
  | { readonly kind: 'controller'; readonly folder: string }
  /** A folder that is already on each node. */
  | { readonly kind: 'node'; readonly folder: string }
  /** Base of URLs, ending in `/`. */
  | { readonly kind: 'url'; readonly base: string };

/** One model. */
export interface DesiredModel {
  readonly name: string;
  readonly source: ModelSource;
  /** Sorted by path. Of a `controller` source without a list in the file: empty until settled. */
  readonly files: readonly TreeFile[];
  /** Of the list of files; absent until settled. */
  readonly digest?: Digest;
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
  readonly env: Readonly<Record<string, string>>;
  readonly endpointPort: number;
  /** From the start of the last rank to the first token. */
  readonly firstTokenMs: number;
  readonly state: 'serving' | 'stopped';
}

/** The whole file with its defaults filled in: what every later stage compares the observation with. */
export interface DesiredFleet {
  readonly name: string;
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
  readonly system: {
    readonly wiredLimit?: DesiredWiredLimit;
    readonly fileVault: 'any' | 'enabled' | 'disabled';
    /** Each of these is absent where the file leaves it as it is: the node's own name for the Mac… */
    readonly computerName?: 'node';
    /** …its clock, set when it is wrong… */
    readonly clock?: 'set';
    readonly automaticLogin?: 'required' | 'disabled';
    readonly screenSharing?: 'enabled' | 'disabled';
    readonly firewall?: 'disabled';
    /** Spotlight's indexing and backups of Time Machine. */
    readonly backgroundServices?: 'stop';
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
  /** Sorted by name, as the next two. */
  readonly runtimes: readonly DesiredRuntime[];
  readonly models: readonly DesiredModel[];
  readonly placements: readonly DesiredPlacement[];
}
