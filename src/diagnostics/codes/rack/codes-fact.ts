import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about an observation as a whole. */
export const factCodes = {
  'fact/too-much-output': {
    summary: 'The node sent more than any observation can hold.',
    cause: 'A tool on the node, or something in its place, printed without end; the rest was not read.',
    hint: 'Log in and run `system_profiler SPThunderboltDataType -json | wc -c` and the other probes by hand.',
  },
  'fact/no-frames': {
    summary: 'The node answered, but not with an observation.',
    cause: 'The login shell or a forced command did not run the observation script, or ended it at once.',
    hint: 'Try `ssh` to the node with the command `/bin/sh -c "echo hello"`: it must print hello and nothing else.',
  },
  'fact/unknown': {
    severity: 'warning',
    summary: 'Some facts of this node are unknown.',
    cause:
      'A tool is missing, refused, hung, or printed something that no known macOS prints. Unknown is never taken for right or wrong, so nothing that depends on it was judged.',
    hint: prose`See what each probe said: ${meshwright('facts')}`,
  },
} as const satisfies Record<string, CodeEntry>;
