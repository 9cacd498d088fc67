import type { Digest } from './digest.ts';
import type { GoldenRecord } from './endpoint-calls.ts';
import type { RankRecord } from './facts/fact-values.ts';
import type { NodeHold, StartOutcome } from './facts/node-records.ts';
import type { NodeName } from './node.ts';
import type { NodePath, Word } from './probe.ts';

/** A published tree contains one version of a runtime, or a model. */
export type TreeKind = 'runtime' | 'model';

/** One published tree on a node: `/opt/meshwright/<kind>s/<name>/<first 16 digits>`. */
export interface TreeId {
  readonly kind: TreeKind;
  readonly name: string;
  readonly digest: Digest;
}

/** One entry in a model's file list. `path` is relative, without `..`. */
export interface TreeFile {
  readonly path: string;
  readonly sha256: Digest;
  readonly sizeBytes: number;
}

/** A model's file in a folder of other software, which may have a different name there. */
export interface CopiedFile extends TreeFile {
  readonly from: string;
}

/** Hours of each day, by the node's clock, such as `22:00` to `06:00`. They may span midnight. */
export interface DownloadHours {
  readonly begin: string;
  readonly end: string;
}

/** The source from which a node fetches a model's files. */
export type FetchSource =
  /**
   * A base URL to which each file's path is appended. The node's curl fetches the files as `account`, or as root if it
   * is absent. Unless `plainHttp` is set, it uses only https, including redirects. With `secret`, the server gets the
   * token that the job reads from its standard input.
   */
  | {
      readonly kind: 'url';
      readonly base: string;
      readonly plainHttp?: true;
      readonly secret?: true;
      /** Set if the server wants the token, but this job gets the files from other Macs: then it never asks the server. */
      readonly isWithheld?: true;
      readonly account?: string;
      /** The highest rate; absent if there is no limit. */
      readonly maxBytesPerSecond?: number;
      /** Absent if the job may download at any time. */
      readonly hours?: DownloadHours;
    }
  /** A folder that already exists on this node. */
  | { readonly kind: 'folder'; readonly folder: NodePath }
  /** Only the other Macs of the exchange, one of which gets the files from the controller. */
  | { readonly kind: 'peers' };

/**
 * How a Mac exchanges the chunks of a model with other Macs, over Thunderbolt cables or Ethernet. A receiver in a mesh gets
 * different chunks from each peer; in a chain it gets all of them from the first peer that answers.
 */
export interface PeerPlan {
  readonly self: NodeName;
  /** `serve`: the Mac has the model, or downloads it. */
  readonly role: 'receive' | 'serve';
  readonly mode: 'mesh' | 'chain';
  /** The account that runs the program, which cannot become root; absent means the SSH user. */
  readonly account?: string;
  /** A TCP port, the same on all Macs of the exchange. */
  readonly port: number;
  /** Of `of` receivers that are cabled to a Mac with the model, this one gets every `of`th chunk from it. */
  readonly stripe: { readonly at: number; readonly of: number };
  /** This Mac's own addresses, on the cables to the others; the loopback address if others reach it through its sshd. */
  readonly listen: readonly string[];
  /** The Macs from which it gets chunks, the preferred one first. */
  readonly sources: readonly PeerSource[];
  /** The Macs that may get chunks from this one. It serves until they have everything. */
  readonly feeds: readonly NodeName[];
}

export interface PeerSource {
  readonly node: NodeName;
  /** Its address on a cable; absent for the address of its sshd in the office network. */
  readonly address?: string;
  /** An origin gets the model from elsewhere, or has it. */
  readonly isOrigin: boolean;
  /** Set if the bytes are encrypted, by SSH. */
  readonly isOverSsh?: true;
}

/**
 * Bytes per second over each cable after a first restart during an exchange: 2 Gbit/s, an eighth of the lowest rate that
 * was reported for a cable, and still more than an uplink of 1 Gbit/s. Each further restart halves it.
 */
export const firstCableRate = 250_000_000;
/** At a lower rate, the Macs at the other ends would take a connection for broken. */
export const leastCableRate = 16_000_000;

/** A runtime's command whose output shows whether it can use the GPU. Patterns are extended regular expressions. */
export interface GpuQuestion {
  readonly argv: readonly [NodePath, ...string[]];
  /** Matches an output line that shows that the command can use the GPU. */
  readonly shows: string;
  /** Matches an output line of a runtime built for the GPU; other output passes. Absent if all builds use the GPU. */
  readonly builtFor?: string;
}

/** The tests that the ranks' account must pass on a node before a placement starts there. */
export interface AccountCheck {
  readonly name: string;
  /** RDMA devices visible to the SSH user, which the account must be able to open. Absent if the ranks use none. */
  readonly devices?: readonly string[];
  /** Paths that the ranks read: the trees of the runtime and the model, and a program outside them. */
  readonly reads: readonly NodePath[];
  /** Absent if the driver has no GPU test. */
  readonly gpu?: GpuQuestion & { readonly digest: Digest; readonly env: Readonly<Record<string, string>> };
}

/**
 * The arguments of every script that changes a node. Unless noted otherwise, scripts run as root under the lease's
 * fence (`sudo -n /bin/sh -s`). Each macOS setting defines its own scripts.
 */
export interface ScriptArgs {
  /** Records a hold on the node. */
  readonly 'set-hold': Omit<NodeHold, 'isOver'>;
  readonly 'clear-hold': Readonly<Record<string, never>>;
  /** Fails if the account can become root or fails a test; stores the test results on the node. */
  readonly 'check-account': AccountCheck;
  /** Creates one of our accounts; never changes a foreign account with the same name. */
  readonly 'make-account': { readonly name: string };
  /** Removes our accounts, as far as macOS allows. */
  readonly 'remove-accounts': { readonly names: readonly string[] };
  readonly 'set-clock': Readonly<Record<string, never>>;
  readonly 'set-wired-limit': { readonly megabytes: number };
  /** Removes the bridge's existing layers. Removes `members` before destroying the bridge. */
  readonly 'remove-bridge': {
    readonly bridge: string;
    readonly members: readonly string[];
    readonly services: readonly string[];
    /**
     * Here and in the other service changes: set if the keeper applies what only networksetup can set. If macOS forbids
     * networksetup (no Full Disk Access), the script marks the Mac and makes the other changes without an error.
     */
    readonly keeper?: true;
  };
  /** Sets a fixed address in the preferences and on the interface; `create` first creates a missing network service. */
  readonly 'set-link-address': {
    readonly service: string;
    readonly hardwarePort: string;
    readonly device: string;
    readonly address: string;
    readonly prefixLength: number;
    readonly create: boolean;
    readonly keeper?: true;
  };
  /** Removes `addresses` from the interface, and resets the service, if given, to DHCP, macOS's default. */
  readonly 'clear-link-address': {
    readonly service?: string;
    readonly hardwarePort: string;
    readonly device: string;
    readonly addresses: readonly string[];
  };
  /** Unloads and disables a foreign network daemon; `remove` moves its plist to our folder. */
  readonly 'stop-daemon': { readonly label: string; readonly remove: boolean };
  /** Moves the services of the `last` devices behind all others, which keep their order. */
  readonly 'order-services': { readonly last: readonly string[]; readonly keeper?: true };
  /** Loads the keeper, whose files already exist; `reload` if launchd has loaded a different property list. */
  readonly 'load-keeper': { readonly reload: boolean };
  /** Unloads the keeper and removes its files. */
  readonly 'remove-keeper': Readonly<Record<string, never>>;
  /**
   * Loads a port's gateway, whose files already exist; `reload` if launchd has loaded a different one. The gateway must
   * answer on its port, unless one of our ranks still uses the port (`isTaken`). `left` lists placements with a key
   * file that are no longer behind the gateway.
   */
  readonly 'load-gateway': {
    readonly port: number;
    readonly reload: boolean;
    readonly isTaken: boolean;
    readonly left: readonly string[];
    readonly user: string;
  };
  /** Unloads a gateway and removes its files, including the closing files of `closed` and the key files of `keyed`. */
  readonly 'remove-gateway': {
    readonly port: number;
    readonly closed: readonly string[];
    readonly keyed: readonly string[];
  };
  /** Waits until no request is in flight, up to a limit. */
  readonly 'drain-endpoint': { readonly port: number; readonly placement: string; readonly waitMs: number };
  readonly 'open-endpoint': { readonly port: number; readonly placement: string };
  /** Restores the network from the baseline; empty or absent values are left unchanged. */
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
  /** Removes our services, jobs and trees; removes models only with `models`. */
  readonly 'clear-node': { readonly labels: readonly string[]; readonly models: boolean };
  /** Removes our folder and our SSH access, including the run's lease. */
  readonly 'withdraw-node': Readonly<Record<string, never>>;
  /** Rolls back this run's unconfirmed network change, if it still exists. */
  readonly 'settle-transaction': { readonly run: string };
  /**
   * Creates a tree's private staging folder, owned by the SSH user; verified files in an existing folder are kept. An
   * empty `user` means the account that called sudo.
   */
  readonly 'prepare-staging': { readonly tree: TreeId; readonly user: string };
  /**
   * Publishes a verified staged tree: renames it, then seals it. Does not change a runtime's `current`. Removes the
   * staging folder and the folders of the jobs that may have made the tree.
   */
  readonly 'publish-tree': { readonly tree: TreeId; readonly jobs: readonly Digest[] };
  /** Removes staging folders (`model-kimi-0123456789abcdef`) and job folders that no job uses any more. */
  readonly 'clear-staging': { readonly folders: readonly string[]; readonly jobs: readonly string[] };
  /** Atomically points a runtime's `current` to this version; fails if the version lacks one of the programs. */
  readonly 'switch-runtime': { readonly tree: TreeId; readonly programs?: readonly string[] };
  /** Deletes runtime versions, but never the current version. */
  readonly 'remove-runtime-versions': { readonly name: string; readonly digests: readonly string[] };
  /** Deletes versions of a model, each by the digits that name its folder, unless a process has it in its arguments. */
  readonly 'remove-model-versions': { readonly name: string; readonly digests: readonly string[] };
  /**
   * Writes a rank's record, then runs `launchctl bootstrap` for its service, which does not start the rank. `user` owns
   * the process and its log; empty as above. Creates `links` next to the existing files, and `folders` owned by `user`,
   * which are emptied unless `keeps` is set. Removes all other files.
   */
  readonly 'bootstrap-rank': {
    readonly record: RankRecord;
    readonly request: string;
    readonly user: string;
    readonly files: readonly string[];
    readonly links: readonly { readonly name: string; readonly to: NodePath }[];
    readonly folders: readonly { readonly name: string; readonly keeps: boolean }[];
    /** Folders that the job with the key `job` has made. */
    readonly prepared?: readonly string[];
    readonly job?: Digest;
  };
  /**
   * Runs `launchctl kickstart`; fails if the record has a different generation. The node counts every start over RDMA,
   * whatever its result. The start's mark shows observations for `startMs` that it is in progress. `lastTalked` adds
   * the previous transport if it differed from the file. `isReload` counts a start of a running rank whose runtime loads
   * the model again, without starting a process.
   */
  readonly 'kick-rank': {
    readonly placement: string;
    readonly generation: number;
    /** The rank's account; absent means the SSH user. */
    readonly user?: string;
    readonly transport: 'rdma' | 'tcp';
    readonly startMs: number;
    readonly lastTalked?: 'tcp';
    /** Number of starts to count, over RDMA; default: 1. */
    readonly takes?: number;
    readonly isReload?: true;
  };
  /**
   * Stores a key with which macOS starts once without FileVault's password, which the run adds. `unlocksLater`: if
   * macOS cannot do that, the run unlocks the Mac after its restart.
   */
  readonly 'authorize-restart': { readonly unlocksLater?: true };
  /**
   * Sends TERM, waits, samples the stack, sends KILL, unloads the service and checks the wired memory. Succeeds only if
   * no process is left. `patienceMs` is a longer wait, which a simulated clock shortens, for a rank whose KILL may cost
   * a reboot. With `interruptMs`, first sends INT and waits that long. `beforeReboot` means that a restart
   * follows, which also ends processes that survive KILL. `outcome` is the start's result, as the controller saw it.
   */
  readonly 'stop-rank': {
    readonly placement: string;
    readonly graceMs: number;
    readonly patienceMs?: number;
    readonly interruptMs?: number;
    readonly beforeReboot?: true;
    readonly outcome?: StartOutcome;
  };
  /** Sends SIGCONT to the suspended processes of the rank's process group. */
  readonly 'continue-rank': { readonly placement: string };
  /** Stores the golden answer on the leader. */
  readonly 'keep-golden': { readonly placement: string; readonly golden: GoldenRecord };
  /** Removes the service file and the record; the service must be stopped. */
  readonly 'remove-rank': { readonly placement: string };
}

export type ScriptName = keyof ScriptArgs;

export type ScriptCall = { readonly [K in ScriptName]: { readonly name: K; readonly args: ScriptArgs[K] } }[ScriptName];

/** Calls of the scripts that change a node's network in a transaction. */
export type NetworkCall = Extract<
  ScriptCall,
  { readonly name: 'remove-bridge' | 'set-link-address' | 'clear-link-address' | 'order-services' | 'restore-network' }
>;

/** Where uv finds packages and Python; absent for PyPI and GitHub. */
export interface UvMirror {
  readonly index?: string;
  readonly pythons?: string;
}

/**
 * The arguments of every job. A job is long work that is stored on the node by its key. Jobs run as root, except for
 * their curl, uv and `prepare`.
 */
export interface JobArgs {
  /** Downloads a runtime's archive to staging, resuming a partial file, and verifies its SHA-256. */
  readonly 'fetch-archive': {
    readonly tree: TreeId;
    readonly archive: JobArgs['unpack-runtime']['archive'];
    readonly sha256: Digest;
    readonly sizeBytes: number;
    readonly url: string;
    /** The account for curl; absent means root. */
    readonly account?: string;
    readonly plainHttp?: true;
  };
  /**
   * Verifies a staged archive's SHA-256, unpacks the archive, whose format is `archive`, and copies the verified extras
   * into the tree's root. Fails if one of `programs` is missing from the archive.
   */
  readonly 'unpack-runtime': {
    readonly tree: TreeId;
    readonly archive: 'tar.gz' | 'tar.xz' | 'zip' | 'dmg';
    readonly sha256: Digest;
    readonly extras: readonly { readonly name: string; readonly sha256: Digest }[];
    /** The programs' paths in the archive; absent if the file sets none. */
    readonly programs?: readonly string[];
    /** A program whose folder gets the alias `bin` if the archive has no such folder. */
    readonly binHas?: string;
  };
  /**
   * Unpacks as above, then uses the archive's uv to create a venv in the tree. The venv has this Python version and the
   * packages in `requirements.lock`, which is one of the extras.
   */
  readonly 'build-python': JobArgs['unpack-runtime'] & {
    readonly python: string;
    /** True if Python and all wheels are in the extras, so that nothing is downloaded. */
    readonly isOffline: boolean;
    /** The account for uv; empty means the SSH user. */
    readonly account: string;
    /** An extra with the built wheel of a package, and the name that uv needs; absent if all come from an index. */
    readonly wheel?: { readonly extra: string; readonly name: string };
  } & UvMirror;
  /** Downloads the archive of a commit to the staging folder of its list, like `fetch-archive`. */
  readonly 'fetch-source': Omit<JobArgs['fetch-archive'], 'archive'>;
  /**
   * Unpacks as above into a temporary folder, and uses uv to list a package with all dependencies and hashes. With
   * `source`, uv first builds the package's wheel from the archive that `fetch-source` downloaded.
   */
  readonly 'list-packages': Pick<JobArgs['build-python'], 'tree' | 'archive' | 'sha256' | 'python' | 'account'> & {
    /** The requirement, such as `mlx-lm==0.32.0`; with `source`, only the name. */
    readonly wanted: string;
    readonly source?: { readonly sha256: Digest; readonly mostBytes: number };
    /** The longest list that is accepted. */
    readonly mostBytes: number;
  } & UvMirror;
  /**
   * Builds llama.cpp from the archive that `fetch-source` downloaded, and packs its programs into an archive, next to a
   * file with its SHA-256.
   */
  readonly 'build-archive': {
    readonly tree: TreeId;
    /** The digest of the commit's archive. */
    readonly sha256: Digest;
    /** The first digits of the commit, which the programs report. */
    readonly commit: string;
    /** The account for CMake; empty means the SSH user. */
    readonly account: string;
    /** The longest archive that is accepted. */
    readonly mostBytes: number;
  };
  /**
   * Clones these files from a folder of other software to staging and verifies each SHA-256. Leaves out files that
   * differ. Fails if a process writes to the folder.
   */
  readonly 'adopt-model': {
    readonly tree: TreeId;
    readonly files: readonly CopiedFile[];
    readonly folder: NodePath;
    /** The folder that no link may lead out of. */
    readonly fence: NodePath;
    /** Set if the folder also contains other models. */
    readonly isShared?: true;
  };
  /**
   * Downloads every file to staging, resuming partial files, and verifies each SHA-256. With `peers`, also gets chunks
   * from other Macs, or serves them while they arrive.
   */
  readonly 'fetch-model': {
    readonly tree: TreeId;
    readonly files: readonly TreeFile[];
    readonly source: FetchSource;
    readonly peers?: PeerPlan;
    /** True if an earlier job has verified the files, so that this one has nothing to do. */
    readonly isPrepared?: true;
  };
  /** Serves a published model's chunks until no other Mac needs them. */
  readonly 'serve-model': { readonly tree: TreeId; readonly files: readonly TreeFile[]; readonly peers: PeerPlan };
  /**
   * Verifies the SHA-256 of every staged file from the controller. With `peers`, first waits until all have arrived, and
   * serves them to other Macs.
   */
  readonly 'verify-model': { readonly tree: TreeId; readonly files: readonly TreeFile[]; readonly peers?: PeerPlan };
  /** Runs a runtime's `prepare` as the ranks' account, in a folder of the rank's files. */
  readonly 'prepare-rank': {
    readonly placement: string;
    readonly key: Digest;
    /** The folder's name among the rank's files. */
    readonly name: string;
    /** Empty means the SSH user. */
    readonly account: string;
    readonly env: Readonly<Record<string, readonly Word[]>>;
    /** One entry per argument, in parts. */
    readonly argv: readonly (readonly Word[])[];
  };
  /** Hashes every file of a published model, and marks the model as changed if one is wrong. */
  readonly 'rehash-model': Omit<JobArgs['verify-model'], 'peers'>;
  /** Lists the files of a folder with their SHA-256, for the lock; fails if there are more than `most`. */
  readonly 'list-folder': { readonly model: string; readonly folder: NodePath; readonly most: number };
  /** Downloads a macOS update without installing it. */
  readonly 'download-macos': { readonly label: string };
  /**
   * Installs a macOS update, which restarts the Mac. Reads the password of `user` from its standard input. Without
   * `user`, a program on the controller orders the installation, and the job waits for the restart.
   */
  readonly 'install-macos': { readonly label: string; readonly user?: string };
}

export type JobName = keyof JobArgs;

export type JobCall = { readonly [K in JobName]: { readonly name: K; readonly args: JobArgs[K] } }[JobName];
