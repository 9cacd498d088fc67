import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { NodeName } from '../model/node.ts';
import type { Step, StepId, StepOutcome } from '../model/step.ts';
import type { LeaseHolder } from './lease/lease-keeper.ts';

/** Told while a plan runs, in the order in which things happen. Times are the listener's: events carry durations only. */
export type RunEvent =
  /** The run has its journal; `nodes` get a lease before the first step. */
  | { readonly kind: 'run-started'; readonly runId: string; readonly nodes: readonly NodeName[] }
  /** `waiting`: a different run has it, and this one watches whether that run lives; `expired`: it does not, and the lease is taken over. */
  | {
      readonly kind: 'lease';
      readonly node: NodeName;
      readonly phase: 'taken' | 'waiting' | 'expired' | 'refused' | 'lost' | 'released';
      readonly holder?: LeaseHolder;
    }
  /** A connection to a node broke off and is being made again. */
  | { readonly kind: 'reconnecting'; readonly node: NodeName; readonly attempt: number }
  | { readonly kind: 'step-started'; readonly step: Step; readonly rescues?: string }
  /** Bytes for steps that move some; `text` says what is waited for (`rank 2 is not listening`, `boot session is the old one`). */
  | {
      readonly kind: 'step-progress';
      readonly step: StepId;
      readonly node: NodeName;
      readonly doneBytes?: number;
      readonly totalBytes?: number;
      readonly text?: string;
    }
  | {
      readonly kind: 'step-ended';
      readonly step: Step;
      readonly outcome: StepOutcome;
      readonly ms: number;
      readonly diagnostics: readonly Diagnostic[];
      readonly rescues?: string;
    }
  /** A member of a group failed, or the run was interrupted inside it: its rescue begins. */
  | { readonly kind: 'rescue-started'; readonly group: string }
  /** The plan has ended, in whatever way; the run may go on with another one. */
  | { readonly kind: 'plan-ended' }
  /** A signal came: nothing new is begun, what runs is awaited for a moment. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'run-ended' };

/** Listens to a run; it must not throw. */
export type RunListener = (event: RunEvent) => void;
