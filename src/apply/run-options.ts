import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { Step, StepId, StepOutcome } from '../model/step.ts';
import type { Journal } from './journal/journal.ts';
import type { Controller } from './lease/controller.ts';
import type { NodeWay, UseLimits } from './reach/with-remote.ts';
import type { LeaseHolder } from './run-report.ts';
import type { RunTiming } from './run-timing.ts';
import type { NodeUnlock } from './unlock-node.ts';

/** What a run needs besides its plan. Times and ids are arguments: the caller reads clocks and makes tokens. */
export interface RunOptions extends UseLimits {
  /** The ways to all nodes of the plan, and to those that its gates look at. */
  readonly ways: readonly NodeWay[];
  /** The settled file that the plan was made from: gates read the same properties. */
  readonly desired: DesiredFleet;
  /** As it was typed: `apply`; shown to whoever meets the lease. */
  readonly verb: string;
  readonly controller: Controller;
  /** Opened for this run; the caller closes it. Its run id names the run. */
  readonly journal: Journal;
  /** On how many nodes steps run at once. */
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every observation. */
  readonly newToken: () => string;
  readonly timing: RunTiming;
  /** How long somebody else's living lease is waited for, after which the run is refused; 0 unless `--lease-wait`. */
  readonly leaseWaitMs: number;
  readonly onEvent: RunListener;
  /**
   * Told when the leases of a plan are held and before its first step, which waits for it. What it throws ends the run.
   */
  readonly onLeased?: () => Promise<void>;
  /** Told before the script that takes the way into a node away, which is not sent until this is done. */
  readonly onWithdraw?: (node: NodeName) => Promise<void>;
  /** Unlocks a Mac that came back locked at FileVault, where that needs no person; absent when none can be. */
  readonly unlock?: NodeUnlock;
}

/** Told while a plan runs, in the order in which things happen. Times are the listener's: events carry durations only. */
export type RunEvent =
  /** The run has its journal; `nodes` get a lease before the first step. */
  | { readonly kind: 'run-started'; readonly runId: string; readonly nodes: readonly NodeName[] }
  /** `waiting`: somebody holds it and it is watched whether they still live; `expired`: they do not, it is taken over. */
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
