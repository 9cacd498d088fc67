import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Digest } from '../../model/digest.ts';
import type { NodeFit } from '../../model/fit.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, EffectKind, Step } from '../../model/step.ts';
import type { AddressParts } from '../../model/subject.ts';
import type { Blocker } from '../../rack/resource.ts';
import type { Unreached } from './view.ts';

/** Whether nothing is left to do, to wait for or to find out: every target is as the file says. */
export const isEmptyPlan = ({ changes, steps, waiting, blockers }: Plan): boolean =>
  changes.length + steps.length + waiting.length + blockers.length === 0;

/** One thing that keeps properties waiting. */
export interface Reason {
  /** `rdma/disabled on studio-3`, `power/sleep on studio-1 is unknown (no answer in time)`. */
  readonly text: string;
  readonly isUnknown: boolean;
  readonly blocker?: Pick<Blocker, 'code' | 'node'>;
}

/** A change that a blocker, or an unknown fact, keeps from being made now. */
export interface Waiting {
  /** Address of the property, such as `placement/kimi`. */
  readonly resource: string;
  readonly about: AddressParts;
  readonly node: NodeName;
  readonly for: readonly Reason[];
  /** Whether anything of it could not be seen: then the run cannot end well, whatever the hands do. */
  readonly isUnknown: boolean;
}

/** One line of what a plan disturbs, by kind of effect. */
export interface EffectTotal {
  readonly kind: Exclude<EffectKind, 'none'>;
  readonly nodes: readonly NodeName[];
  readonly placements: readonly string[];
  /** Longest interruption, in seconds; bytes for `delete`. */
  readonly seconds?: number;
  readonly bytes?: number;
}

/** Clean-up of a group: run on every member that can be reached as soon as one of its steps fails. */
export interface Rescue {
  readonly group: string;
  readonly steps: readonly Step[];
}

/** What was looked at: a plan is stale when any of it has changed. */
export interface ObservedNode {
  /** UUID of the boot session; null when unknown. */
  readonly bootSession: string | null;
  /** Of every property of the node. */
  readonly hash: Digest;
}

/** Everything that `apply` will do, and everything that keeps it from doing more. A pure value of its inputs. */
export interface Plan {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Of the resolved file and what the lock adds to it. */
  readonly configHash: Digest;
  readonly observed: Readonly<Record<string, ObservedNode>>;
  /** Targets of which nothing below says anything; absent where all were reached. */
  readonly unreached?: Unreached;
  /** Sorted by node, then by the order of the resources. */
  readonly changes: readonly Change[];
  /** In an order in which every step comes after those that it needs. */
  readonly steps: readonly Step[];
  readonly rescues: readonly Rescue[];
  readonly waiting: readonly Waiting[];
  /** The work list, in the order in which it should be done. */
  readonly blockers: readonly Blocker[];
  readonly effects: readonly EffectTotal[];
  /** The memory of every node that carries a placement; none where the file has none. */
  readonly memory?: readonly NodeFit[];
  readonly diagnostics: readonly Diagnostic[];
}
