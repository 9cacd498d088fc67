import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about an observation as a whole. */
export const factCodes = {
  'fact/too-much-output': {
    summary: 'The node sent more output than is allowed in an observation.',
    cause: 'A tool on the node, or a program in its place, kept printing. meshwright did not read the rest.',
    hint: 'Log in and run `system_profiler SPThunderboltDataType -json | wc -c` and the other probes by hand.',
  },
  'fact/no-frames': {
    summary: 'The node answered, but not with an observation.',
    cause: 'The login shell or a forced command did not run the observation script, or ended it immediately.',
    hint: 'Test the command `/bin/sh -c "echo hello"` on the node with `ssh`. It must print `hello` and nothing else.',
  },
  'fact/unknown': {
    severity: 'warning',
    traits: ['unknown-facts'],
    summary: 'Some facts about this node are unknown.',
    cause:
      'A tool is missing, was refused, hung, or printed output that no known macOS prints. An unknown fact never counts as right or wrong, so everything that depends on it was left unchecked.',
    hint: prose`See the result of each probe: ${meshwright('facts')}`,
  },
} as const satisfies Record<string, CodeEntry>;
