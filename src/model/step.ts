import type { Digest, Json } from './digest.ts';
import type { DialogueCall, GoldenCheck } from './endpoint-calls.ts';
import type { Known } from './known.ts';
import type { NodeName } from './node.ts';
import type { JobCall, NetworkCall, ScriptCall } from './node-script.ts';
import type { NodePath } from './probe.ts';
import type { Addressed, AddressParts } from './subject.ts';

/** A step's ID within its plan: readable, unique, and the same for the same plan. */
export type StepId = string & { readonly brand: 'StepId' };

export const stepId = (text: string): StepId => text as StepId;

/**
 * One property of a node with its desired value: `power/sleep` = 0. Changes, steps, gates and tests use the same
 * address. Each resource defines its addresses and how to read their values from the facts.
 */
export interface Patch extends Addressed {
  readonly node: NodeName;
  readonly value: Json;
}

/** Text with node paths and the run's login account, which are rendered only when the text is sent. */
export type Text = readonly (string | NodePath | { readonly kind: 'login-user' })[];

/** What a step disturbs. Consent is given by kind. */
export type Effect =
  | { readonly kind: 'none' }
  | { readonly kind: 'start'; readonly placement: string }
  /** A start over RDMA on a node whose launch budget is spent. */
  | { readonly kind: 'rdma-start'; readonly placement: string }
  | { readonly kind: 'network' }
  | {
      readonly kind: 'interrupt';
      readonly placement: string;
      /** Other placements behind the same gateway, which the step also interrupts. */
      readonly others?: readonly string[];
      readonly seconds: number;
    }
  | { readonly kind: 'reboot' }
  /** A restart after which the Mac waits for its FileVault password, because this run cannot send it. */
  | { readonly kind: 'locked-reboot' }
  | { readonly kind: 'shutdown' }
  /** Model files only. */
  | { readonly kind: 'delete'; readonly bytes: number };

/** A macOS update by its label in `softwareupdate`. */
export interface MacosInstall {
  readonly label: string;
  /** The program on the controller that orders the installation; absent for `softwareupdate` itself. */
  readonly by?: 'command';
}

/** The kinds of effects, as `--allow` names them. */
export type EffectKind = Effect['kind'];

/**
 * How a step can be repeated. `probe`: freely; `converge`: after an observation; `job`: it is found again by its key;
 * `once`: it is sent at most once per intent; `manual`: a person does it.
 */
export type StepClass = 'probe' | 'converge' | 'job' | 'once' | 'manual';

/** How long to wait without progress by a placement's ranks. With progress, the step's deadline applies. */
export interface Patience {
  readonly placement: string;
  readonly stallMs: number;
}

/** How to request tokens from a placement's endpoint. */
interface TokenRequest {
  readonly placement: string;
  /** TCP port of the endpoint on 127.0.0.1 of the node. */
  readonly port: number;
  readonly path: string;
  /** JSON pointer to the text in the answer. */
  readonly pointer: string;
  readonly countPointer?: string;
  /** Set if a second simultaneous request could crash the mesh. */
  readonly isOne?: true;
}

/** The action of a step, as data. A new kind needs a member here and a runner in `apply/steps`. */
export type Act =
  /** Runs a named script as root, protected by the lease's fencing token. */
  | ({ readonly kind: 'script' } & ScriptCall)
  /**
   * Changes the network. The node rolls the change back unless it is confirmed over a new connection. The script
   * decides what is saved; the run's timing determines how long the node waits.
   */
  | ({ readonly kind: 'transaction' } & NetworkCall)
  /** Writes one of our files under a temporary name, renames it, and adds a seal for later observations. */
  | { readonly kind: 'put'; readonly path: NodePath; readonly mode: number; readonly content: Text }
  /** Sends a file from the controller to a tree's staging folder, resuming after a correct prefix. */
  | {
      readonly kind: 'send';
      /** Absolute path on the controller. */
      readonly source: string;
      readonly to: NodePath;
      readonly sha256: Digest;
      readonly sizeBytes: number;
    }
  /** With `isDetached`, the run does not wait for the job's end, and a later run finds it. */
  | ({ readonly kind: 'job'; readonly key: Digest; readonly isDetached?: true } & JobCall)
  /** Observes until all values in `expect` are seen; a value in `aborts` ends the wait immediately. */
  | {
      readonly kind: 'gate';
      readonly expect: readonly Patch[];
      readonly aborts: readonly Patch[];
      readonly patience?: Patience;
    }
  /** Sends a request to a placement's endpoint, from the node; the function named by `judge` checks the answer. */
  | (TokenRequest & {
      readonly kind: 'ask';
      readonly judge: 'token';
      /** The request's body: JSON as text. */
      readonly request: string;
      readonly patience?: Patience;
    })
  /**
   * Holds a dialogue with a placement's endpoint, on its nodes: a pure function of that name chooses the next request.
   * The dialogue can restart at any time, because it begins with an observation.
   */
  | ({ readonly kind: 'dialogue'; readonly placement: string } & DialogueCall)
  /**
   * Asks the golden question: requests one token and then a whole answer from the endpoint. Compares the answer with
   * that of an earlier start, measures its speed, and stores both on the node.
   */
  | (TokenRequest & {
      readonly kind: 'prove';
      /** The bodies of the request for one token and of the request with the golden question. */
      readonly token: string;
      readonly question: string;
      readonly check: GoldenCheck;
      /** The key for storing the answer; absent if the answer is only compared. */
      readonly key?: Digest;
      /** The first answer stored under this key or, without one, the last answer for the same file. */
      readonly kept?: Digest;
      /** Tokens per second of the fastest stored start. */
      readonly keptPerSecond?: number;
      /** The minimum speed in the file. */
      readonly tokensPerSecond?: number;
    })
  /** Restarts (or switches off) the Mac, at most once in the boot session `from`; with `install`, by a macOS update. */
  | {
      readonly kind: 'reboot';
      readonly to: 'up' | 'off';
      readonly from: Known<string>;
      readonly install?: MacosInstall;
    }
  /** A manual step; `code` is the blocker's. */
  | { readonly kind: 'hands'; readonly code: string };

/** One executable action as data. Preview, plan file, journal, resume and execution all use the same data. */
export interface Step {
  readonly id: StepId;
  readonly node: NodeName;
  /** The kind of resource that the step changes. */
  readonly resource: string;
  readonly class: StepClass;
  readonly act: Act;
  readonly effect: Effect;
  /** IDs of the {@link Change}s that the step makes; empty for gates and clean-up. */
  readonly changes: readonly string[];
  readonly needs: readonly StepId[];
  /** Steps that must end first, whatever their result. */
  readonly after?: readonly StepId[];
  /** If one step of a group fails, the whole group stops. */
  readonly group?: string;
  /** Other nodes whose state this step relies on. */
  readonly peers: readonly NodeName[];
  readonly establishes: readonly Patch[];
  readonly deadlineMs: number;
}

export const stepsBefore = ({ needs, after = [] }: Pick<Step, 'needs' | 'after'>): readonly StepId[] => [
  ...needs,
  ...after,
];

/** Whether a change adds, removes or changes something; `change` also if that is unknown. */
export type ChangeKind = 'add' | 'change' | 'remove';

/** One difference between the desired and the observed state. */
export interface Change {
  readonly kind: ChangeKind;
  /** `<node> <address>`. */
  readonly id: string;
  /** The address of the property. */
  readonly resource: string;
  readonly about: AddressParts;
  readonly node: NodeName;
  /** The observed value, in words. */
  readonly from: string;
  readonly to: string;
  /** The reason for the change: usually a key in the file. */
  readonly reason: string;
}

/** The result of a step. `unknown` is neither success nor failure: the next observation decides. */
export type StepOutcome = 'changed' | 'unchanged' | 'failed' | 'unknown' | 'skipped' | 'blocked' | 'interrupted';

/**
 * What a transfer does now: bytes arrive, it waits for the hours in which it may download, digests are compared, or a
 * complete node passes the bytes on to others.
 */
export const activities = ['receiving', 'waiting', 'comparing', 'serving'] as const;
export type Activity = (typeof activities)[number];

/** A step's progress; bytes for steps that transfer data. */
export interface StepProgress {
  readonly doneBytes?: number;
  readonly totalBytes?: number;
  /** Of `doneBytes`, those that were on the node before; absent if unknown. */
  readonly keptBytes?: number;
  readonly activity?: Activity;
  /** While waiting: the time of day, such as `22:00`, on the node that downloads. */
  readonly until?: string;
  /** The nodes from which the last bytes came, if they came from other nodes. */
  readonly sources?: readonly NodeName[];
  /** While serving: the nodes that still need this one, and the bytes that it has sent to other nodes. */
  readonly feeds?: readonly NodeName[];
  readonly sentBytes?: number;
  readonly text?: string;
}

/** True if an action sends the Hugging Face token to its node. */
export const needsToken = (act: Act): boolean =>
  act.kind === 'job' && act.name === 'fetch-model' && act.args.source.kind === 'url' && act.args.source.secret === true;
