import type { JournalEntry } from '../../../src/apply/journal/journal.ts';
import type { RunEvent } from '../../../src/apply/run-events.ts';

/** Gives the records and events of a run the same names in every run of the same playbook. */
export interface RunKeys {
  /** The key of a record that was just written. */
  readonly record: (entry: JournalEntry) => string;
  /** The key of an event of a manual step, which leaves no record. */
  readonly event: (event: RunEvent) => string | undefined;
}

/** Keys for one run, which may have several plans: they begin with the number of the plan, from 1. */
export function runKeys(): RunKeys {
  let plan = 0;
  return {
    record: (entry) => {
      if (entry.phase === 'plan') plan += 1;
      switch (entry.phase) {
        case 'lease':
          return `${plan} lease ${entry.state} on ${entry.node}`;
        case 'intent':
          return `${plan} intent of ${entry.step}${entry.rescues === undefined ? '' : ' (rescue)'}`;
        case 'outcome':
          return `${plan} outcome of ${entry.step}`;
        case 'run':
        case 'plan':
        case 'end':
        case 'measured':
        case 'cure':
        case 'cured':
          return `${plan} ${entry.phase}`;
      }
    },
    event: (event) => {
      const isOfHands =
        (event.kind === 'step-started' || event.kind === 'step-ended') && event.step.act.kind === 'hands';
      return isOfHands ? `${plan} ${event.kind} of ${event.step.id}` : undefined;
    },
  };
}
