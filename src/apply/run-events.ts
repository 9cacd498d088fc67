import type { StepReport } from '../engine/plan/plan.ts';
import type { NodeName } from '../model/node.ts';
import type { Step, StepId, StepProgress } from '../model/step.ts';
import type { LeaseChange } from './lease/lease-keeper.ts';

/** A run's events in order. They contain durations but no times, because the listener has its own clock. */
export type RunEvent =
  /** The journal is open; `nodes` are leased before the first step. */
  | { readonly kind: 'run-started'; readonly runId: string; readonly nodes: readonly NodeName[] }
  /** `waiting`: this run checks whether the other run is alive. `expired`: it is dead, and this run takes over. */
  | ({ readonly kind: 'lease' } & Omit<LeaseChange, 'token'>)
  /** The run is reconnecting to a node after a lost connection. */
  | { readonly kind: 'reconnecting'; readonly node: NodeName; readonly attempt: number }
  | { readonly kind: 'step-started'; readonly step: Step; readonly rescues?: string }
  /** Bytes for steps that transfer data; `text` is what the step is waiting for (`rank 2 is not listening`). */
  | ({ readonly kind: 'step-progress'; readonly step: StepId; readonly node: NodeName } & StepProgress)
  | ({ readonly kind: 'step-ended' } & StepReport)
  /** A group's rescue starts because one of its steps failed or the run was interrupted. */
  | { readonly kind: 'rescue-started'; readonly group: string }
  /** The plan has ended, successfully or not; the run can continue with another plan. */
  | { readonly kind: 'plan-ended' }
  /** After a signal: nothing new starts, and running steps get a short time to end. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'run-ended' };

/** Must not throw. */
export type RunListener = (event: RunEvent) => void;
