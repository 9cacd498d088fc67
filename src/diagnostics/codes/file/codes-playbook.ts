import type { CodeEntry } from '../../code-entry.ts';

/** Codes about the files of playbooks. */
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
  'playbook/not-published': {
    severity: 'error',
    summary: 'A placement that is not published cannot be drained.',
    cause: 'A door is closed by the doorman of an endpoint with `listen: lan`; before others nothing stands.',
    hint: 'Take it out of this task, or stop it instead: `stop`.',
  },
  'playbook/unknown-field': {
    severity: 'error',
    summary: 'There is no field of this name here.',
    cause: 'Words in braces are filled in, and each place knows a few of them; nothing else is a template.',
    hint: 'Use a field that is known here, or write {{ for a brace.',
  },
  'playbook/unknown-property': {
    severity: 'error',
    summary: 'An assert names a property that no node of the cluster file has.',
    cause: 'The name is misspelled, or the cluster file sets nothing of the kind.',
    hint: 'Use a property that plan shows, such as power/sleep.',
  },
} as const satisfies Record<string, CodeEntry>;
