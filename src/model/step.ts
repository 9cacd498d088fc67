import type { Digest, Json } from './digest.ts';
import type { DialogueCall, GoldenCheck } from './endpoint-calls.ts';
import type { Known } from './known.ts';
import type { NodeName } from './node.ts';
import type { JobCall, NetworkCall, ScriptCall } from './node-script.ts';
import type { NodePath } from './probe.ts';
import type { Addressed, AddressParts } from './subject.ts';

/** Names a step within its plan: readable, unique, and the same for the same plan. */
export type StepId = string & { readonly brand: 'StepId' };

export const stepId = (text: string): StepId => text as StepId;

/**
 * One property of a node with its desired value: `power/sleep` = 0. The address is the same in changes, steps, gates
 * and tests; each resource defines its addresses and how to read them from the facts.
 */
export interface Patch extends Addressed {
  readonly node: NodeName;
  readonly value: Json;
}

/** Text with node paths and the account of the run's SSH login, rendered only when it is sent. */
export type Text = readonly (string | NodePath | { readonly kind: 'login-user' })[];

/** The disruption that a step causes. Consent is given by kind. */
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
  | { readonly kind: 'shutdown' }
  /** Model files only. */
  | { readonly kind: 'delete'; readonly bytes: number };

/** The kinds of effects, as `--allow` names them. */
export type EffectKind = Effect['kind'];

/**
 * How a step may be repeated: `probe` freely, `converge` after an observation, `job` is found again by its key, `once`
 * is sent at most once per intent, `manual` is done by a person.
 */
export type StepClass = 'probe' | 'converge' | 'job' | 'once' | 'manual';

/** How long to wait for a placement's ranks without progress; with progress the step's deadline applies. */
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
  /** JSON pointer of the text in the answer. */
  readonly pointer: string;
  readonly countPointer?: string;
  /** Whether a second request at the same time could end the mesh. */
  readonly isOne?: true;
}

/** The action of a step, as data. A new kind needs a member here and a runner in `apply/steps`. */
export type Act =
  /** A named script, as root under the fence of the lease. */
  | ({ readonly kind: 'script' } & ScriptCall)
  /**
   * A network change that the node rolls back by itself unless it is confirmed over a new connection. The script
   * decides what is saved; the run's timing decides how long the node waits.
   */
  | ({ readonly kind: 'transaction' } & NetworkCall)
  /** Writes one of our files through a temporary name and a rename, with a seal for later observations. */
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
  | ({ readonly kind: 'job'; readonly key: Digest } & JobCall)
  /** Observes until every patch is seen; `aborts` are values that end the wait immediately. */
  | {
      readonly kind: 'gate';
      readonly expect: readonly Patch[];
      readonly aborts: readonly Patch[];
      readonly patience?: Patience;
    }
  /** A request to a placement's endpoint, sent on the node; a named function checks the answer. */
  | (TokenRequest & {
      readonly kind: 'ask';
      readonly judge: 'token';
      /** The body of the request: JSON as text. */
      readonly request: string;
      readonly patience?: Patience;
    })
  /**
   * A dialogue with a placement's endpoint, on its nodes: a pure function of that name chooses the next request. It can
   * restart at any time, because it begins with an observation.
   */
  | ({ readonly kind: 'dialogue'; readonly placement: string } & DialogueCall)
  /**
   * The golden question: requests one token and then a whole answer from the endpoint. Compares the answer with that of
   * an earlier start, measures its speed, and stores both on the node.
   */
  | (TokenRequest & {
      readonly kind: 'prove';
      /** The body of the request for one token, and of the golden question. */
      readonly token: string;
      readonly question: string;
      readonly check: GoldenCheck;
      /** The key for storing the answer; absent: only compare. */
      readonly key?: Digest;
      /** The first answer stored under this key or, without one, the last answer for the same file. */
      readonly kept?: Digest;
      /** Tokens per second of the fastest stored start. */
      readonly keptPerSecond?: number;
      /** The file's minimum. */
      readonly tokensPerSecond?: number;
    })
  /** Restarts (or switches off) the Mac, at most once in the boot session `from`. */
  | { readonly kind: 'reboot'; readonly to: 'up' | 'off'; readonly from: Known<string> }
  /** A manual step; `code` is the blocker's. */
  | { readonly kind: 'hands'; readonly code: string };

/** One executable action as a value: previewed, saved, journaled, resumed and run from the same data. */
export interface Step {
  readonly id: StepId;
  readonly node: NodeName;
  /** The kind of resource that it belongs to. */
  readonly resource: string;
  readonly class: StepClass;
  readonly act: Act;
  readonly effect: Effect;
  /** Ids of its {@link Change}s; empty for gates and clean-up. */
  readonly changes: readonly string[];
  readonly needs: readonly StepId[];
  /** Steps that must end first, whatever their result. */
  readonly after?: readonly StepId[];
  /** If one step of a group fails, the whole group stops. */
  readonly group?: string;
  /** Other nodes whose state it relies on. */
  readonly peers: readonly NodeName[];
  readonly establishes: readonly Patch[];
  readonly deadlineMs: number;
}

/** All steps that must end before this one. */
export const stepsBefore = ({ needs, after = [] }: Pick<Step, 'needs' | 'after'>): readonly StepId[] => [
  ...needs,
  ...after,
];

/** Whether a change adds something, removes it, or changes it; `change` also where that is not known. */
export type ChangeKind = 'add' | 'change' | 'remove';

/** One difference between desired and observed. */
export interface Change {
  readonly kind: ChangeKind;
  /** `<node> <address>`. */
  readonly id: string;
  /** The address of the property. */
  readonly resource: string;
  readonly about: AddressParts;
  readonly node: NodeName;
  /** In words. */
  readonly from: string;
  readonly to: string;
  /** Why: usually the key of the file. */
  readonly reason: string;
}

/** The result of a step. `unknown` is neither success nor failure: the next observation decides. */
export type StepOutcome = 'changed' | 'unchanged' | 'failed' | 'unknown' | 'skipped' | 'blocked' | 'interrupted';

/** A step's progress; bytes for steps that transfer data. */
export interface StepProgress {
  readonly doneBytes?: number;
  readonly totalBytes?: number;
  readonly text?: string;
}
