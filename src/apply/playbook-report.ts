import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Plan, StepReport } from '../engine/plan/plan.ts';
import type { PlayScope, TaskWork } from '../engine/playbooks/expand.ts';
import type { Task } from '../engine/playbooks/playbook.ts';
import type { NodeName } from '../model/node.ts';
import type { FleetObservation } from '../rack/examination.ts';
import type { PlacementSurvey } from '../rack/placement/check/placement-survey.ts';
import type { LeaseRefusal } from './lease/lease-keeper.ts';
import type { RunOptions, RunReport } from './open-run.ts';
import type { RunTiming } from './run-timing.ts';

/** A position in a playbook. Plays and batches are numbered from 0. */
export interface PlaybookPlace {
  readonly play: number;
  readonly batch: number;
  readonly task: Task;
  readonly nodes: readonly NodeName[];
}

/** One task's result for one batch. */
export interface PlaybookWork extends PlaybookPlace {
  /** The plan, run or not, based on {@link observation}. */
  readonly plan?: Plan;
  readonly observation?: FleetObservation;
  /** Absent without steps or without consent. */
  readonly run?: RunReport;
  readonly failed: readonly NodeName[];
  /** True if only manual steps are left on the failed nodes. */
  readonly isByHand?: true;
  readonly refusals: readonly LeaseRefusal[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface PlaybookReport {
  readonly works: readonly PlaybookWork[];
  /** All nodes of the plays, in fleet order. */
  readonly nodes: readonly NodeName[];
  /** The final check; absent if the run was interrupted. */
  readonly observation?: FleetObservation;
  /** True if more nodes failed than the play allows, or a lease was refused or lost. */
  readonly isStopped: boolean;
  /** True if a person declined, or consent was missing. */
  readonly isDeclined: boolean;
  readonly isInterrupted: boolean;
  /** The reasons why the playbook ended early or left a node out; otherwise empty. */
  readonly refusal: readonly Diagnostic[];
}

export type PerformedWork = Extract<TaskWork, { readonly kind: 'recover' | 'upgrade' | 'bench' | 'notify' }>;

export interface Performed {
  /** The placements for which the task failed. */
  readonly failed: readonly string[];
  /** The nodes for which it failed, besides those of the placements. */
  readonly nodes?: readonly NodeName[];
  /** True if only manual steps are left. */
  readonly isByHand?: true;
  readonly diagnostics: readonly Diagnostic[];
}

/** A batch before anything runs. */
export interface ForeseenBatch {
  readonly play: number;
  readonly nodes: readonly NodeName[];
  readonly works: readonly ForeseenWork[];
}

export interface ForeseenWork {
  readonly task: Task;
  readonly work: TaskWork;
  /** It runs only if a Mac of the batch fails. */
  readonly isRescue?: true;
  /** For the nodes' current state, which earlier tasks may change. */
  readonly plan?: Plan;
  /** The placements that would keep the batch from beginning. */
  readonly hung?: readonly PlacementSurvey[];
}

/** A plan that was already shown, with its observation. A saved plan has no observation. */
export interface ShownPlan {
  readonly plan: Plan;
  readonly observation?: FleetObservation;
}

/** All step reports, including those of rescues, in order. */
export const stepsOf = ({ works }: Pick<PlaybookReport, 'works'>): readonly StepReport[] =>
  works.flatMap(({ run }) => run?.steps ?? []);

export interface PlaybookOptions {
  readonly scope: PlayScope;
  /** Observes these nodes and any others needed to check them. */
  readonly observe: (nodes: readonly NodeName[]) => Promise<FleetObservation>;
  /** Shows a plan that has steps and asks for consent. */
  readonly approve: (plan: Plan, place: PlaybookPlace) => Promise<boolean>;
  /**
   * For a user's playbook: called before the first task with all batches; false if the person declines, and may throw.
   * Such a playbook counts a node whose result is unknown as failed.
   */
  readonly foresee?: (batches: readonly ForeseenBatch[]) => Promise<boolean>;
  /** True if placements that have baked must still serve at the end; other commands have a final check of their own. */
  readonly checksBaked?: true;
  /** Does the tasks of a user's playbook that are commands of their own, while this run has no leases. */
  readonly perform?: (work: PerformedWork) => Promise<Performed>;
  /** The nodes that these labels choose in the file as it is now. */
  readonly labelledNow?: (labels: readonly string[]) => readonly NodeName[];
  /** Asks the user a question from the playbook. */
  readonly confirm: (text: string, place: PlaybookPlace) => Promise<boolean>;
  /** The approved plan. The first task that has a plan runs it unchanged, without a new observation. */
  readonly first?: ShownPlan;
  /** An observation that is recent enough to plan the first task. */
  readonly seen?: FleetObservation;
  /** Called just before the first request is sent, and again after a recovery, which has leases of its own. */
  readonly run: () => RunOptions;
  /** The timing of the playbook's own waits. */
  readonly timing: RunTiming;
  readonly signal?: AbortSignal;
  /** Called at each poll of a wait, with the unmet conditions and the remaining time. */
  readonly onWait?: (missing: readonly string[], leftMs: number) => void;
  /** Called after each task, before the next one starts; `lost` aborts when the run loses a lease. */
  readonly onWork?: (work: PlaybookWork, lost: AbortSignal) => Promise<void>;
  /** Called when the run has ended, whatever its result. */
  readonly end?: () => Promise<void>;
}
