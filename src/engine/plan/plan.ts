import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Digest } from '../../model/digest.ts';
import type { NodeFit } from '../../model/fit.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, EffectKind, Step, StepOutcome } from '../../model/step.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { Blocker } from '../../rack/resource.ts';
import type { MacosUpdates } from '../diagnose/update-states.ts';
import type { Unreached } from './view.ts';

/** True if every target was observed and matches the file. */
export const isEmptyPlan = ({ changes, steps, waiting, blockers }: Plan): boolean =>
  changes.length + steps.length + waiting.length + blockers.length === 0;

export interface Reason {
  /** `rdma/disabled on studio-3`, `power/sleep on studio-1 is unknown (no answer in time)`. */
  readonly text: string;
  readonly isUnknown: boolean;
  readonly blocker?: Pick<Blocker, 'code' | 'node'>;
}

/** A change that waits for a blocker or an unknown fact. */
export interface Waiting extends Pick<Change, 'resource' | 'about' | 'node'> {
  readonly for: readonly Reason[];
  /** True if a reason is an unknown fact. The run then cannot succeed, even after all manual steps. */
  readonly isUnknown: boolean;
}

export interface EffectTotal {
  readonly kind: Exclude<EffectKind, 'none'>;
  readonly nodes: readonly NodeName[];
  readonly placements: readonly string[];
  /** Longest interruption, in seconds; bytes for `delete`. */
  readonly seconds?: number;
  readonly bytes?: number;
}

/** The clean-up of a group. It runs on every reachable node after a step in the group has failed. */
export interface Rescue {
  readonly group: string;
  readonly steps: readonly Step[];
}

export interface StepReport {
  readonly step: Step;
  readonly outcome: StepOutcome;
  /** Problems with hints; empty for a successful step. */
  readonly diagnostics: readonly Diagnostic[];
  /** From the intent to the outcome; 0 for a step that never started. */
  readonly ms: number;
  /** The group whose failure caused this step to run; absent for steps in the plan. */
  readonly rescues?: string;
}

/** The observed state; if any of it changes, the plan is stale. */
export interface ObservedNode {
  /** UUID of the boot session; null when unknown. */
  readonly bootSession: string | null;
  /** A hash over all properties of the node. */
  readonly hash: Digest;
}

/** Everything that `apply` will do, and everything that blocks the rest. Depends only on its inputs. */
export interface Plan {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Digest of the resolved file including the lock. */
  readonly configHash: Digest;
  readonly observed: Readonly<Record<string, ObservedNode>>;
  /** Unobserved targets, which the rest of the plan does not cover; absent if all were reached. */
  readonly unreached?: Unreached;
  /** Sorted by node, then in resource order. */
  readonly changes: readonly Change[];
  /** Every step comes after all steps that it needs. */
  readonly steps: readonly Step[];
  readonly rescues: readonly Rescue[];
  readonly waiting: readonly Waiting[];
  /** In the order to clear them. */
  readonly blockers: readonly Blocker[];
  readonly effects: readonly EffectTotal[];
  /** Effects of the plan that follows in the same apply, when packages are listed or archives built; absent if none. */
  readonly later?: readonly EffectTotal[];
  /** The updates that are left to `upgrade macos`, if the file names who installs them; absent if none. */
  readonly updates?: MacosUpdates;
  /** How to undo the plan, or what cannot be undone; absent if it changes nothing on a node. */
  readonly undo?: Prose;
  /** The memory of every node with a placement; empty if the file has none. */
  readonly memory?: readonly NodeFit[];
  readonly diagnostics: readonly Diagnostic[];
}
