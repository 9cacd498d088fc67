import type { EffectKind, StepClass, StepOutcome } from '../../model/step.ts';

/** What is written about a run, by phase. */
export type JournalEntry =
  /** The first record: who runs what. */
  | { readonly phase: 'run'; readonly cluster: string; readonly verb: string; readonly controller: string }
  /**
   * A plan begins; a run of a playbook has several. `changes` are their ids with both values in words, and how many
   * steps each takes: without the number, as older journals have them, nobody can tell whether one was finished.
   */
  | {
      readonly phase: 'plan';
      readonly config: string;
      readonly plan: string;
      readonly steps: number;
      readonly changes: readonly {
        readonly id: string;
        readonly from: string;
        readonly to: string;
        readonly steps?: number;
      }[];
    }
  | {
      readonly phase: 'lease';
      readonly node: string;
      readonly state: 'taken' | 'refused' | 'lost' | 'released';
      /** Fencing token, of a lease that was taken. */
      readonly token?: number;
    }
  /** Written and synced before the first byte of a step leaves. */
  | {
      readonly phase: 'intent';
      readonly step: string;
      readonly node: string;
      readonly act: string;
      readonly class: StepClass;
      readonly effect: EffectKind;
      readonly changes: readonly string[];
      /** The group whose failure made this step run. */
      readonly rescues?: string;
    }
  | {
      readonly phase: 'outcome';
      readonly step: string;
      readonly node: string;
      readonly outcome: StepOutcome;
      readonly ms: number;
      readonly problems: readonly { readonly code: string; readonly detail: string }[];
    }
  /** The last record of a run that came to its end, in whatever way. */
  | { readonly phase: 'end'; readonly isInterrupted: boolean };

/** One line of a journal. */
export type JournalRecord = JournalEntry & {
  /** Counts from 1. */
  readonly seq: number;
  readonly runId: string;
  /** ISO time of the controller's clock; nothing is decided by it. */
  readonly at: string;
};
