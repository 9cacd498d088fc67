import type { Digest } from './digest.ts';
import type { GoldenRecord } from './endpoint-calls.ts';
import type { RankRecord } from './facts/fact-values.ts';
import type { NodeHold, StartOutcome } from './facts/node-records.ts';
import type { NodePath } from './probe.ts';

/** What a published tree is: one version of a runtime, or a model. */
export type TreeKind = 'runtime' | 'model';

/** One published tree on a node: `/opt/meshwright/<kind>s/<name>/<first 16 digits>`. */
export interface TreeId {
  readonly kind: TreeKind;
  readonly name: string;
  readonly digest: Digest;
}

/** One file of a model as its digest list has it. `path` is relative, without `..`. */
export interface TreeFile {
  readonly path: string;
  readonly sha256: Digest;
  readonly sizeBytes: number;
}

/** Where a node takes the files of a model from by itself. */
export type FetchSource =
  /**
   * The base of URLs; the path of each file is appended. Fetched by the node's own curl, which runs as this account or
   * else as root, by https only, redirects included, unless http is allowed.
   */
  | { readonly kind: 'url'; readonly base: string; readonly plainHttp?: true; readonly account?: string }
  /** A folder that is already on this node. */
  | { readonly kind: 'folder'; readonly folder: NodePath };

/**
 * A command of a runtime that succeeds only where it reaches the GPU. Its patterns are extended regular expressions
 * (POSIX).
 */
export interface GpuQuestion {
  readonly argv: readonly [NodePath, ...string[]];
  /** Matches a line of its output where it reaches the GPU. */
  readonly shows: string;
  /** Matches a line where the runtime was built for the GPU: any other output passes. Absent: all of them were. */
  readonly builtFor?: string;
}

/** The tests that the account of ranks has to pass on a node before a placement starts there. */
export interface AccountCheck {
  readonly name: string;
  /** RDMA devices that the account has to open: those that the ssh user sees. Absent where the placement opens none. */
  readonly devices?: readonly string[];
  /** What its ranks read: the trees of its runtime and its model, and a program outside of them. */
  readonly reads: readonly NodePath[];
  /** Absent where the driver has no such question. */
  readonly gpu?: GpuQuestion & { readonly digest: Digest; readonly env: Readonly<Record<string, string>> };
}

/**
 * The arguments of every script that changes a node. All run as root by `sudo -n /bin/sh -s` under a lease's fence,
 * unless the comment says otherwise. macOS settings add their own scripts where they are defined.
 */
export interface ScriptArgs {
  /** Records a hold on the node. */
  readonly 'set-hold': Omit<NodeHold, 'isOver'>;
  readonly 'clear-hold': Readonly<Record<string, never>>;
  /** Fails if the account can become root or fails a test; stores the test results on the node. */
  readonly 'check-account': AccountCheck;
  /** Creates one of our accounts; does not change a foreign account with the same name. */
  readonly 'make-account': { readonly name: string };
  /** Removes our accounts, as far as macOS allows. */
  readonly 'remove-accounts': { readonly names: readonly string[] };
  readonly 'set-clock': Readonly<Record<string, never>>;
  readonly 'set-wired-limit': { readonly megabytes: number };
  /** Removes all three layers, or those that exist. Removes `members` before destroying the bridge. */
  readonly 'remove-bridge': {
    readonly bridge: string;
    readonly members: readonly string[];
    readonly services: readonly string[];
    /**
     * Here and in the other service changes: whether the keeper applies what only networksetup can set. If macOS
     * forbids it (no Full Disk Access), the script marks the Mac and does the rest without an error.
     */
    readonly keeper?: true;
  };
  /** Sets a fixed address; `create` first creates a missing network service. Also restores it on the interface. */
  readonly 'set-link-address': {
    readonly service: string;
    readonly hardwarePort: string;
    readonly device: string;
    readonly address: string;
    readonly prefixLength: number;
    readonly create: boolean;
    readonly keeper?: true;
  };
  /**
   * Resets to DHCP, the macOS default, and removes `addresses` from the interface; without a service only the latter.
   */
  readonly 'clear-link-address': {
    readonly service?: string;
    readonly hardwarePort: string;
    readonly device: string;
    readonly addresses: readonly string[];
  };
  /** Unloads and disables a foreign network daemon; `remove` moves its plist to our folder. */
  readonly 'stop-daemon': { readonly label: string; readonly remove: boolean };
  /** Moves the services of the devices `last` behind all others, which keep their order. */
  readonly 'order-services': { readonly last: readonly string[]; readonly keeper?: true };
  /** Loads the keeper, whose files already exist; `reload` if launchd has a different property list. */
  readonly 'load-keeper': { readonly reload: boolean };
  /** Unloads the keeper and removes its files. */
  readonly 'remove-keeper': Readonly<Record<string, never>>;
  /**
   * Loads the gateway at a port, whose files already exist; `reload` if launchd has a different one there. It must
   * answer at its port, unless one of our ranks still uses the port (`isTaken`). `left` are placements with a key file
   * there that are no longer behind it.
   */
  readonly 'load-doorman': {
    readonly port: number;
    readonly reload: boolean;
    readonly isTaken: boolean;
    readonly left: readonly string[];
    readonly user: string;
  };
  /** Unloads a gateway and removes its files; `closed`: placements with a closing file, `keyed`: with a key file. */
  readonly 'remove-doorman': {
    readonly port: number;
    readonly closed: readonly string[];
    readonly keyed: readonly string[];
  };
  /** Waits until no request is in flight, up to a limit. */
  readonly 'drain-door': { readonly port: number; readonly placement: string; readonly waitMs: number };
  readonly 'open-door': { readonly port: number; readonly placement: string };
  /** Restores the network from the baseline; empty or absent values stay unchanged. */
  readonly 'restore-network': {
    readonly bridge?: { readonly name: string; readonly interfaces: readonly string[]; readonly auto?: string };
    /** Services that meshwright created. */
    readonly made: readonly string[];
    readonly switched: readonly { readonly service: string; readonly on: boolean }[];
    readonly manual: readonly (Pick<
      ScriptArgs['set-link-address'],
      'service' | 'device' | 'address' | 'prefixLength'
    > & { readonly router?: string })[];
    /** All services that exist afterwards, in this order. */
    readonly order: readonly string[];
  };
  /** Restores one value from the baseline. */
  readonly 'restore-value': { readonly key: string };
  /** Restores a foreign network daemon that was stopped; `load` also starts it. */
  readonly 'return-daemon': { readonly label: string; readonly load: boolean };
  /** Removes our services, jobs and trees, and only the named models. */
  readonly 'clear-node': { readonly labels: readonly string[]; readonly models: boolean };
  /** Removes our folder and our SSH access, including the run's lease. */
  readonly 'withdraw-node': Readonly<Record<string, never>>;
  /** Rolls back an unconfirmed network change of this run, if it still exists. */
  readonly 'settle-rollback': { readonly run: string };
  /**
   * Creates a tree's private staging folder, owned by the SSH user, and keeps verified files in it. An empty `user`
   * means the account that called sudo.
   */
  readonly 'prepare-staging': { readonly tree: TreeId; readonly user: string };
  /**
   * Publishes a verified staged tree: rename, seal. Does not move a runtime's `current`. Removes its staging folder and
   * the folders of the jobs that may have made it.
   */
  readonly 'publish-tree': { readonly tree: TreeId; readonly jobs: readonly Digest[] };
  /** Removes staging folders (`model-kimi-0123456789abcdef`) and job folders that no job still uses. */
  readonly 'clear-staging': { readonly folders: readonly string[]; readonly jobs: readonly string[] };
  /** Atomically points a runtime's `current` to this version; fails if a program is missing from it. */
  readonly 'switch-runtime': { readonly tree: TreeId; readonly programs?: readonly string[] };
  /** Deletes versions of a runtime; never the current one. */
  readonly 'remove-runtime-versions': { readonly name: string; readonly digests: readonly string[] };
  /**
   * Writes a rank's record, then runs `launchctl bootstrap` for its service, which starts nothing. `user` owns the
   * process and its log; empty as above. Creates `links` among its existing files, and `folders`, which belong to the
   * user and are emptied unless they keep their contents. Removes everything else there.
   */
  readonly 'bootstrap-rank': {
    readonly record: RankRecord;
    readonly request: string;
    readonly user: string;
    readonly files: readonly string[];
    readonly links: readonly { readonly name: string; readonly to: NodePath }[];
    readonly folders: readonly { readonly name: string; readonly keeps: boolean }[];
  };
  /**
   * `launchctl kickstart`; fails if the record has a different generation. The node counts a start over RDMA, whatever
   * its result. The start leaves a mark that shows observations for `startMs` that it is in progress and, with
   * `lastTalked`, the previous transport if it differed from the file.
   */
  readonly 'kick-rank': {
    readonly placement: string;
    readonly generation: number;
    /** The rank's account; absent means the SSH user. */
    readonly user?: string;
    readonly transport: 'rdma' | 'tcp';
    readonly startMs: number;
    readonly lastTalked?: 'tcp';
    /** How many starts it counts for, over RDMA; default: 1. */
    readonly takes?: number;
  };
  /**
   * TERM, wait, stack sample, KILL, bootout, check of the wired memory; succeeds only if no process is left. With
   * `interruptMs` it first sends INT and waits that long. With `beforeReboot` a restart of the Mac follows, which also
   * ends processes that survive KILL. `outcome` is the result of its start as seen by the controller.
   */
  readonly 'stop-rank': {
    readonly placement: string;
    readonly graceMs: number;
    readonly interruptMs?: number;
    readonly beforeReboot?: true;
    readonly outcome?: StartOutcome;
  };
  /** Stores the golden answer on the leader. */
  readonly 'keep-golden': { readonly placement: string; readonly golden: GoldenRecord };
  /** Removes service file and record; the service must be stopped. */
  readonly 'remove-rank': { readonly placement: string };
}

export type ScriptName = keyof ScriptArgs;

export type ScriptCall = { readonly [K in ScriptName]: { readonly name: K; readonly args: ScriptArgs[K] } }[ScriptName];

/** Scripts that change a node's network in a transaction. */
export type NetworkCall = Extract<
  ScriptCall,
  { readonly name: 'remove-bridge' | 'set-link-address' | 'clear-link-address' | 'order-services' | 'restore-network' }
>;

/**
 * The arguments of every job: long work, stored on the node by its key. Jobs run as root, but not their curl and uv.
 */
export interface JobArgs {
  /**
   * Verifies a staged archive's SHA-256, unpacks it in the format `archive`, then copies the verified extras into the
   * root of the tree. An archive without one of `programs` is the wrong one.
   */
  readonly 'unpack-runtime': {
    readonly tree: TreeId;
    readonly archive: 'tar.gz' | 'tar.xz' | 'zip' | 'dmg';
    readonly sha256: Digest;
    readonly extras: readonly { readonly name: string; readonly sha256: Digest }[];
    /** By their paths in the archive; absent if the file names none. */
    readonly programs?: readonly string[];
    /** A program whose folder gets the alias `bin` if the archive has no such folder. */
    readonly binHas?: string;
  };
  /**
   * Unpacks as above, then uses the archive's uv to create a venv in the tree, with this Python version and the
   * packages in `requirements.lock`, which is one of the extras.
   */
  readonly 'build-python': JobArgs['unpack-runtime'] & {
    readonly python: string;
    /** Whether all wheels and Python come from the extras and nothing from the network. */
    readonly isOffline: boolean;
    /** The account for uv; empty means the SSH user. */
    readonly account: string;
  };
  /** Downloads every file to staging, resuming partial ones, and verifies each SHA-256. */
  readonly 'fetch-model': {
    readonly tree: TreeId;
    readonly files: readonly TreeFile[];
    readonly source: FetchSource;
  };
  /** Verifies the SHA-256 of every staged file from the controller. */
  readonly 'verify-model': { readonly tree: TreeId; readonly files: readonly TreeFile[] };
}

export type JobName = keyof JobArgs;

/** A job with its arguments. */
export type JobCall = { readonly [K in JobName]: { readonly name: K; readonly args: JobArgs[K] } }[JobName];
