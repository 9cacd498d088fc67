import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { NodeName } from '../model/node.ts';
import type { Step, StepOutcome } from '../model/step.ts';

/** Who holds the lease of a node, as its owner file has it. */
export interface LeaseHolder {
  readonly run: string;
  /** User and host of the controller, such as `ana@desk.lan`. */
  readonly owner: string;
  /** What was typed there: `apply`. */
  readonly verb: string;
  /** What it was at when it last renewed: the id of a step, or `starting`. */
  readonly phase: string;
  /** ISO time, by the clock of its controller. */
  readonly since: string;
}

/** A node whose lease somebody else holds and keeps renewing. */
export interface LeaseRefusal {
  readonly node: NodeName;
  readonly holder: LeaseHolder;
}

/** How one step came out. */
export interface StepReport {
  readonly step: Step;
  readonly outcome: StepOutcome;
  /** What went wrong, each with a hint; empty for a step that did its work. */
  readonly diagnostics: readonly Diagnostic[];
  /** From its intent to its outcome; 0 for a step that was never begun. */
  readonly ms: number;
  /** The group whose failure made this step run; absent for steps of the plan. */
  readonly rescues?: string;
}

/** What came of running one plan. Whether the nodes are as they should be is for the next observation to say. */
export interface RunReport {
  readonly runId: string;
  /** Every step of the plan in its order, then the rescues that ran. */
  readonly steps: readonly StepReport[];
  /** Set when nothing was begun because others hold these nodes (exit 75). */
  readonly refusals: readonly LeaseRefusal[];
  /** Somebody else held a lease before, and the nodes are not as the plan has seen them: nothing of it was begun. */
  readonly isStale?: boolean;
  /** A signal ended it. */
  readonly isInterrupted: boolean;
  /** Somebody took the lease of a node away while it ran; nothing was begun any more after that. */
  readonly isLeaseLost: boolean;
  /** Problems of the run itself, and those of all steps, in the order in which they came up. */
  readonly diagnostics: readonly Diagnostic[];
}
