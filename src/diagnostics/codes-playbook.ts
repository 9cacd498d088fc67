import type { CodeEntry } from './code-entry.ts';

/** Codes about playbooks: their files, and runs of them. */
export const playbookCodes = {
  'playbook/unknown-node': {
    severity: 'error',
    summary: 'The cluster file has no node of this name.',
    cause: 'A play names a node that stands nowhere under `nodes` of the cluster file that it is run with.',
    hint: 'Correct the name, or name another cluster file with -f.',
  },
  'playbook/no-node-chosen': {
    severity: 'error',
    summary: 'This label chooses no node.',
    cause: 'No node of the cluster file has the labels that the play asks for.',
    hint: 'Ask for labels that a node has.',
  },
  'playbook/unknown-placement': {
    severity: 'error',
    summary: 'The cluster file has no placement of this name.',
    cause: 'A task names a placement that stands nowhere under `placements` of the cluster file that it is run with.',
    hint: 'Correct the name, or name another cluster file with -f.',
  },
  'playbook/unknown-field': {
    severity: 'error',
    summary: 'There is no field of this name here.',
    cause: 'Words in braces are filled in, and each place knows a few of them; nothing else is a template.',
    hint: 'Use a field that is known here, or write {{ for a brace.',
  },
  'playbook/assertion-failed': {
    severity: 'error',
    summary: 'A property is not what the playbook asserts.',
    cause: 'A fresh observation saw another value, could not see it, or no node has such a property.',
    hint: 'Look at it: meshwright facts',
  },
  'playbook/not-verified': {
    severity: 'error',
    summary: 'Something is left to change after the run.',
    cause: 'A fresh observation does not agree with what the cluster file wants.',
    hint: 'See what is left: meshwright plan',
  },
  'playbook/waited-in-vain': {
    severity: 'error',
    summary: 'What was waited for did not come in time.',
    cause: 'The deadline of a wait passed.',
    hint: 'Look at the rack: meshwright status',
  },
  'playbook/command-failed': {
    severity: 'error',
    summary: 'A command of the playbook failed on this node.',
    cause: 'It ended with another exit than 0, or nobody knows how it ended.',
    hint: 'Try it by itself: meshwright exec',
  },
} as const satisfies Record<string, CodeEntry>;
