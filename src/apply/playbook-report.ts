import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { EffectTotal, Plan } from '../engine/plan/plan.ts';
import type { PlayScope } from '../engine/playbooks/expand.ts';
import type { Task } from '../engine/playbooks/playbook.ts';
import type { NodeName } from '../model/node.ts';
import type { FleetObservation } from '../rack/examination.ts';
import type { StepReport } from './execute.ts';
import type { LeaseRefusal } from './lease/lease-keeper.ts';
import type { RunOptions, RunReport } from './open-run.ts';
import type { RunTiming } from './run-timing.ts';

/** Where in a playbook something happens. Play and batch count from 0. */
export interface PlaybookPlace {
  readonly play: number;
  readonly batch: number;
  readonly task: Task;
  readonly nodes: readonly NodeName[];
}

/** What one task came to for one batch. */
export interface PlaybookWork extends PlaybookPlace {
  /** What was, or would have been, run; made from {@link observation}. */
  readonly plan?: Plan;
  readonly observation?: FleetObservation;
  /** Absent when there was nothing to run, or no consent. */
  readonly run?: RunReport;
  /** Nodes for which the task did not do its work. */
  readonly failed: readonly NodeName[];
  readonly refusals: readonly LeaseRefusal[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What came of running a playbook. */
export interface PlaybookReport {
  readonly works: readonly PlaybookWork[];
  /** Every node that a play was about, in the order of the fleet. */
  readonly nodes: readonly NodeName[];
  /** After the last write; absent when the run was interrupted. */
  readonly observation?: FleetObservation;
  /** More nodes failed than the play allows, a lease was refused or lost, or nothing could be written down. */
  readonly isStopped: boolean;
  /** A person, or the rule of consent, said no. */
  readonly isDeclined: boolean;
  readonly isInterrupted: boolean;
}

/** A plan that was shown already, with the look that it was made from; a plan that was saved has none. */
export interface ShownPlan {
  readonly plan: Plan;
  readonly observation?: FleetObservation;
}

/** Every step that was run, with those of rescues, in the order in which they were run. */
export const stepsOf = ({ works }: Pick<PlaybookReport, 'works'>): readonly StepReport[] =>
  works.flatMap(({ run }) => run?.steps ?? []);

/** What a playbook is run with. */
export interface PlaybookOptions {
  readonly scope: PlayScope;
  /** Observes these nodes, and those that must be seen to judge them. */
  readonly observe: (nodes: readonly NodeName[]) => Promise<FleetObservation>;
  /** Shows a plan that has steps, and asks whether it may be run. */
  readonly approve: (plan: Plan, place: PlaybookPlace) => Promise<boolean>;
  /** Given what every plan of the playbook would do as the nodes are now, before anything is changed; may throw. */
  readonly foresee?: (effects: readonly EffectTotal[]) => void;
  /** Asks a question of the playbook. */
  readonly confirm: (text: string, place: PlaybookPlace) => Promise<boolean>;
  /** What the first task with a plan runs, exactly, instead of observing again. It was approved already. */
  readonly first?: ShownPlan;
  /** Asked once, just before something is sent for the first time; not at all when there is nothing to do. */
  readonly run: () => RunOptions;
  /** For what a playbook waits for, before and between its runs. */
  readonly timing: RunTiming;
  readonly signal?: AbortSignal;
  /** Told at each look of a wait what is missing, and how much of its deadline is left. */
  readonly onWait?: (missing: readonly string[], leftMs: number) => void;
  /** Told of each task when it has ended, before the next one begins; `lost` is aborted when a lease of the run is lost. */
  readonly onWork?: (work: PlaybookWork, lost: AbortSignal) => Promise<void>;
}
