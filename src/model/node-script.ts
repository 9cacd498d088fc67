import type { Digest } from './digest.ts';
import type { GoldenRecord } from './endpoint-calls.ts';
import type { StartOutcome } from './facts/node-records.ts';
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
   * The base of URLs; the path of each file is appended. Fetched by the node's own curl, which runs as this account or else
   * as root, by https only, redirects included, unless http is allowed.
   */
  | { readonly kind: 'url'; readonly base: string; readonly plainHttp?: true; readonly account?: string }
  /** A folder that is already on this node. */
  | { readonly kind: 'folder'; readonly folder: NodePath };

/** What a member of a placement leaves on its node, so that every later observation can judge it. */
export interface RankRecord {
  readonly placement: string;
  /** Of everything that makes the placement what it is; equal on all members. */
  readonly digest: Digest;
  readonly generation: number;
  readonly rank: number;
  readonly size: number;
  /** TCP port on which a rank that has joined listens; 0 where its process is enough. */
  readonly port: number;
  /** TCP port on which it listens before it has joined; 0 where there is none. */
  readonly meetPort: number;
  /** TCP port of the endpoint on the leader. */
  readonly endpointPort: number;
  /** Where one token is asked: the path of the request, and the JSON pointer of the text in its answer. */
  readonly tokenPath: string;
  readonly tokenPointer: string;
  /** JSON pointer of the count of generated tokens; absent where the runtime does not count them, and in older records. */
  readonly tokenCountPointer?: string;
  /** `one` where a second request at the same time could end the mesh; absent where others wait, and in older records. */
  readonly requests?: 'one';
  /** How long an observation waits for the token. */
  readonly tokenDeadlineMs: number;
  /** Which lines of its log an observation brings along, for awk; empty for none. */
  readonly logPattern: string;
  /** The driver that it was started by, as the file calls it; absent in records of an older meshwright. */
  readonly driver?: string;
  /** Settings that it was started with, as JSON on one line; absent in records of an older meshwright. */
  readonly declared?: string;
}

/** A command of a runtime that succeeds only where it reaches the GPU. Its patterns are extended regular expressions (POSIX). */
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
 * The arguments of every script that runs on a node and changes something. All run as root by `sudo -n /bin/sh -s`
 * under the fence of a lease, except where the comment says otherwise. A setting of macOS adds its own where it is defined.
 */
export interface ScriptArgs {
  /** Writes down that the node is to be left alone. */
  readonly 'set-hold': {
    readonly reason: string;
    readonly until?: string;
    readonly by: string;
    readonly since: string;
  };
  readonly 'clear-hold': Readonly<Record<string, never>>;
  /** Fails where this account can become root, or fails a test; keeps the results of the tests on the node. */
  readonly 'check-account': AccountCheck;
  /** Makes one of our accounts; one of that name that is not ours stays as it is. */
  readonly 'make-account': { readonly name: string };
  /** Takes accounts of ours away, as far as macOS lets it. */
  readonly 'remove-accounts': { readonly names: readonly string[] };
  readonly 'set-clock': Readonly<Record<string, never>>;
  readonly 'set-wired-limit': { readonly megabytes: number };
  /** All three layers; a layer that is gone already is no error. `members` are taken out before it is destroyed. */
  readonly 'remove-bridge': {
    readonly bridge: string;
    readonly members: readonly string[];
    readonly services: readonly string[];
    /**
     * In this and the other changes of services: whether the keeper holds what only networksetup can set. Then a Mac that
     * does not let it (no Full Disk Access) is marked, the rest is done without it, and that is no failure.
     */
    readonly keeper?: true;
  };
  /**
   * A fixed address; `create` makes the network service first, where the port has none. An interface that lost what its
   * service gives it gets it back.
   */
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
   * Back to DHCP, as macOS has it by itself; `addresses` are taken off the interface where it still holds them. Without
   * a service that is all.
   */
  readonly 'clear-link-address': {
    readonly service?: string;
    readonly hardwarePort: string;
    readonly device: string;
    readonly addresses: readonly string[];
  };
  /** Unloads a network daemon of somebody else, for good; with `remove` its plist is moved to our folder. */
  readonly 'stop-daemon': { readonly label: string; readonly remove: boolean };
  /** The services of the devices `last` behind all others, which keep their order. */
  readonly 'order-services': { readonly last: readonly string[]; readonly keeper?: true };
  /** Loads the keeper, whose files were put before; `reload` where launchd knows another property list of it. */
  readonly 'load-keeper': { readonly reload: boolean };
  /** Unloads the keeper and takes its files away. */
  readonly 'remove-keeper': Readonly<Record<string, never>>;
  /**
   * Loads the doorman at a port, whose files were put before; `reload` where launchd knows another one there. It has to
   * answer at its port, unless that `isTaken` by a rank of ours that goes later. `left` are placements that have a key
   * file there and are not behind it any more.
   */
  readonly 'load-doorman': {
    readonly port: number;
    readonly reload: boolean;
    readonly isTaken: boolean;
    readonly left: readonly string[];
    readonly user: string;
  };
  /** Unloads a doorman and takes its files away; `closed` are placements that have a closing file, `keyed` a key file. */
  readonly 'remove-doorman': {
    readonly port: number;
    readonly closed: readonly string[];
    readonly keyed: readonly string[];
  };
  /** Waits until nobody is inside any more, at most so long. */
  readonly 'drain-door': { readonly port: number; readonly placement: string; readonly waitMs: number };
  readonly 'open-door': { readonly port: number; readonly placement: string };
  /** The network as the baseline has it; what is empty or absent stays. */
  readonly 'restore-network': {
    readonly bridge?: { readonly name: string; readonly interfaces: readonly string[]; readonly auto?: string };
    /** Services that we made. */
    readonly made: readonly string[];
    readonly switched: readonly { readonly service: string; readonly on: boolean }[];
    readonly manual: readonly {
      readonly service: string;
      readonly device: string;
      readonly address: string;
      readonly prefixLength: number;
      readonly router?: string;
    }[];
    /** Every service that there is then, in this order. */
    readonly order: readonly string[];
  };
  /** Sets one value back to what the baseline says. */
  readonly 'restore-value': { readonly key: string };
  /** Gives a network daemon of somebody else back that was stopped; with `load` it runs again. */
  readonly 'return-daemon': { readonly label: string; readonly load: boolean };
  /** Takes away services of ours, jobs and trees; models only where they are named. */
  readonly 'clear-node': { readonly labels: readonly string[]; readonly models: boolean };
  /** Takes our folder and our access away; nothing of the run is left on the node, its lease neither. */
  readonly 'withdraw-node': Readonly<Record<string, never>>;
  /**
   * Takes a change of the network back that this run has left unconfirmed; nothing when it is not there any more.
   */
  readonly 'settle-rollback': { readonly run: string };
  /**
   * Makes the private staging folder of a tree, owned by the ssh user, and keeps what is verified in it. `user` is
   * empty where the file does not name one: then it is whoever asked sudo.
   */
  readonly 'prepare-staging': { readonly tree: TreeId; readonly user: string };
  /**
   * Publishes a staged tree whose verification ended well: rename, seal. For a runtime `current` is not moved. Then
   * neither its staging folder nor the folders of the jobs that can have made it are needed any more.
   */
  readonly 'publish-tree': { readonly tree: TreeId; readonly jobs: readonly Digest[] };
  /** Takes away staging folders (`model-kimi-0123456789abcdef`) and folders of jobs; never what a job still works in. */
  readonly 'clear-staging': { readonly folders: readonly string[]; readonly jobs: readonly string[] };
  /** Atomically points `current` of a runtime at this version; refuses while a program is not in it. */
  readonly 'switch-runtime': { readonly tree: TreeId; readonly programs?: readonly string[] };
  /** Deletes versions of a runtime; never the current one. */
  readonly 'remove-runtime-versions': { readonly name: string; readonly digests: readonly string[] };
  /**
   * Writes the record of a member, then `launchctl bootstrap` of its service, which starts nothing. `user` is whose
   * process it will be and whose log; empty as above. `links` are made among its files, which were put before, and
   * `folders`, which are the user's own, and empty unless they keep what is in them; what is in none of these any more is taken away there.
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
   * `launchctl kickstart`; refuses when the record is of another generation. One over RDMA is also counted on the node,
   * whatever becomes of the placement, and leaves a mark by which an observation knows for `startMs` that it is starting,
   * and, with `lastTalked`, that the start before it came to that, against the file.
   */
  readonly 'kick-rank': {
    readonly placement: string;
    readonly generation: number;
    /** The account that the rank runs as; absent is the ssh user. */
    readonly user?: string;
    readonly transport: 'rdma' | 'tcp';
    readonly startMs: number;
    readonly lastTalked?: 'tcp';
    /** What the start counts for where it is one over RDMA; one when absent. */
    readonly takes?: number;
  };
  /**
   * TERM, wait, a sample of its stack, KILL, bootout, a look at the wired memory; ends well only when no process of it is
   * left. With `interruptMs` INT comes first, and so long is waited for it. With `beforeReboot` a restart of the Mac
   * follows: what not even KILL ends is left to that. `outcome` is what became of its start, as far as the controller saw.
   */
  readonly 'stop-rank': {
    readonly placement: string;
    readonly graceMs: number;
    readonly interruptMs?: number;
    readonly beforeReboot?: true;
    readonly outcome?: StartOutcome;
  };
  /** Keeps what the golden question was answered with on the leader. */
  readonly 'keep-golden': { readonly placement: string; readonly golden: GoldenRecord };
  /** Takes service file and record away; the service must be stopped. */
  readonly 'remove-rank': { readonly placement: string };
}

/** The name of a script. */
export type ScriptName = keyof ScriptArgs;

/** A script with its arguments. */
export type ScriptCall = { readonly [K in ScriptName]: { readonly name: K; readonly args: ScriptArgs[K] } }[ScriptName];

/** Scripts that change the network of a node, and do so as a transaction. */
export type NetworkCall = Extract<
  ScriptCall,
  { readonly name: 'remove-bridge' | 'set-link-address' | 'clear-link-address' | 'order-services' | 'restore-network' }
>;

/** The arguments of every job: long work, kept on the node by its key. All run as root; curl and uv in them do not. */
export interface JobArgs {
  /**
   * Unpacks a staged archive after its sha256 has been compared, format by `archive`; then puts the extras into the root
   * of the tree, compared as well. An archive without one of `programs` is another one than the file means.
   */
  readonly 'unpack-runtime': {
    readonly tree: TreeId;
    readonly archive: 'tar.gz' | 'tar.xz' | 'zip' | 'dmg';
    readonly sha256: Digest;
    readonly extras: readonly { readonly name: string; readonly sha256: Digest }[];
    /** By their paths in the archive; absent where the file names none. */
    readonly programs?: readonly string[];
    /** A program whose folder is also called `bin` where the archive has no folder of that name. */
    readonly binHas?: string;
  };
  /**
   * Unpacks as above; then makes a venv in the tree with the program uv of the archive: this version of Python, and the
   * packages of `requirements.lock`, which is one of the extras.
   */
  readonly 'build-python': JobArgs['unpack-runtime'] & {
    readonly python: string;
    /** Whether everything comes from the wheels and the Python among the extras, and nothing from the network. */
    readonly isOffline: boolean;
    /** That uv runs as; empty is the ssh user. */
    readonly account: string;
  };
  /** Brings every file into staging, resuming what is there, and compares each sha256. */
  readonly 'fetch-model': {
    readonly tree: TreeId;
    readonly files: readonly TreeFile[];
    readonly source: FetchSource;
  };
  /** Compares the sha256 of every staged file that the controller has sent. */
  readonly 'verify-model': { readonly tree: TreeId; readonly files: readonly TreeFile[] };
}

/** The name of a job. */
export type JobName = keyof JobArgs;

/** A job with its arguments. */
export type JobCall = { readonly [K in JobName]: { readonly name: K; readonly args: JobArgs[K] } }[JobName];
