import type { Digest, Json } from './digest.ts';
import type { DialogueCall, GoldenCheck } from './endpoint-calls.ts';
import type { Known } from './known.ts';
import type { NodeName } from './node.ts';
import type { JobCall, NetworkCall, ScriptCall } from './node-script.ts';
import type { NodePath } from './probe.ts';
import type { Addressed, AddressParts } from './subject.ts';

/** Neighbouring texts as one, without empty ones, so that equal words are equal values. */
export function joinText(parts: Text): Text {
  const joined: Text[number][] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else if (part !== '') joined.push(part);
  }
  return joined;
}

/** Names a step within its plan: readable, unique, and the same for the same plan. */
export type StepId = string & { readonly brand: 'StepId' };

/** Brands a text as the id of a step. */
export const stepId = (text: string): StepId => text as StepId;

/**
 * One observed property of a node and the value it is to have: `power/sleep` = 0. The address is the same in changes,
 * steps, gates and tests; each resource says which addresses it keeps and how they are read from the facts.
 */
export interface Patch extends Addressed {
  readonly node: NodeName;
  readonly value: Json;
}

/** The account that a run has logged in with on a node: only the run that sends it knows the name. */
interface LoginUser {
  readonly kind: 'login-user';
}

/** Text with node paths and the login user in it, rendered with the root prefix and the name only when it is sent. */
export type Text = readonly (string | NodePath | LoginUser)[];

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
      /** More of them that the same step interrupts: those behind one doorman. */
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
 * How a step may be repeated: `probe` freely, `converge` after a look, a `job` is found again by its key, `once` is
 * sent at most once per intent, `manual` is done by hands.
 */
export type StepClass = 'probe' | 'converge' | 'job' | 'once' | 'manual';

/**
 * How long a wait for the ranks of a placement goes on without any progress of one of them; with progress it goes on to
 * the deadline of the step.
 */
export interface Patience {
  readonly placement: string;
  readonly stallMs: number;
}

/** What a step does, as data. A new kind is a member here and a runner in `apply/steps`. */
export type Act =
  /** A named script, as root under the fence of the lease. */
  | ({ readonly kind: 'script' } & ScriptCall)
  /**
   * A change of the network that the node takes back by itself unless it is confirmed over a new connection. What is
   * saved follows from the script; how long the node waits belongs to the times of a run, as the life of its lease does.
   */
  | ({ readonly kind: 'transaction' } & NetworkCall)
  /** A file of ours, written by a temporary name and a rename, with a seal that later observations compare. */
  | { readonly kind: 'put'; readonly path: NodePath; readonly mode: number; readonly content: Text }
  /** A file of the controller into the staging folder of a tree, resumed after the prefix that agrees. */
  | {
      readonly kind: 'send';
      /** Absolute path on the controller. */
      readonly source: string;
      readonly to: NodePath;
      readonly sha256: Digest;
      readonly sizeBytes: number;
    }
  | ({ readonly kind: 'job'; readonly key: Digest } & JobCall)
  /** Fresh observations until every patch is seen; `aborts` are values that end the wait at once. */
  | {
      readonly kind: 'gate';
      readonly expect: readonly Patch[];
      readonly aborts: readonly Patch[];
      readonly patience?: Patience;
    }
  /** A request to the endpoint of a placement, made on the node; the answer is judged by a named function. */
  | {
      readonly kind: 'ask';
      readonly placement: string;
      readonly judge: 'token';
      /** TCP port of the endpoint on 127.0.0.1 of the node. */
      readonly port: number;
      readonly path: string;
      /** The body of the request: JSON as text. */
      readonly request: string;
      /** JSON pointer of the text in the answer. */
      readonly pointer: string;
      readonly countPointer?: string;
      /** Whether a second request at the same time could end the mesh. */
      readonly isOne?: true;
      readonly patience?: Patience;
    }
  /**
   * A conversation with the endpoint of a placement, held on its nodes: a pure function of that name decides what is
   * asked next. It can be begun again at any time, since it looks first.
   */
  | ({ readonly kind: 'dialogue'; readonly placement: string } & DialogueCall)
  /**
   * The golden question: the same endpoint is asked for one token, then for a whole answer. What is kept of the answer
   * of an earlier start is compared, the speed measured, and both kept on the node.
   */
  | {
      readonly kind: 'prove';
      readonly placement: string;
      readonly port: number;
      readonly path: string;
      readonly pointer: string;
      readonly countPointer?: string;
      /** Whether a second request at the same time could end the mesh. */
      readonly isOne?: true;
      /** The body of the request for one token, and of the golden question. */
      readonly token: string;
      readonly question: string;
      readonly check: GoldenCheck;
      /** Under which the answer is kept; absent: it is only compared. */
      readonly key?: Digest;
      /** Of the answer of the first start under this key, or of the last one of the same file where there is none. */
      readonly kept?: Digest;
      /** Tokens in a second of the fastest start that it was kept of. */
      readonly keptPerSecond?: number;
      /** What the file expects at least. */
      readonly tokensPerSecond?: number;
    }
  /** Restarts (or switches off) the Mac, at most once in the boot session `from`. */
  | { readonly kind: 'reboot'; readonly to: 'up' | 'off'; readonly from: Known<string> }
  /** What only a person can do; `code` is the blocker's. */
  | { readonly kind: 'hands'; readonly code: string };

/** One executable act. A value: previewed, saved, journaled, resumed and run from the same data. */
export interface Step {
  readonly id: StepId;
  readonly node: NodeName;
  /** The kind of resource that it belongs to. */
  readonly resource: string;
  readonly class: StepClass;
  readonly act: Act;
  readonly effect: Effect;
  /** The changes that it makes, by {@link Change} id; empty for gates and clean-up. */
  readonly changes: readonly string[];
  readonly needs: readonly StepId[];
  /** Steps that it begins behind as soon as they have ended, whatever came of them. */
  readonly after?: readonly StepId[];
  /** Steps of one group are stopped as a whole when one of them fails. */
  readonly group?: string;
  /** Other nodes whose state it relies on. */
  readonly peers: readonly NodeName[];
  readonly establishes: readonly Patch[];
  readonly deadlineMs: number;
}

/** Every step that has to have ended before one begins. */
export const stepsBefore = ({ needs, after = [] }: Pick<Step, 'needs' | 'after'>): readonly StepId[] => [
  ...needs,
  ...after,
];

/** One difference between desired and observed. */
export interface Change {
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

/** How one step came out. `unknown` is neither success nor failure: the next observation decides. */
export type StepOutcome = 'changed' | 'unchanged' | 'failed' | 'unknown' | 'skipped' | 'blocked' | 'interrupted';
