import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about measuring how fast a placement answers. */
export const benchCodes = {
  'bench/beyond-parallel': {
    severity: 'notice',
    summary: 'More requests at once were measured than the placement answers at once.',
    cause:
      'Its memory was judged for `parallel` requests. What is beyond waits, and its waiting is in the figures; a runtime that takes it in all the same needs more memory than was judged.',
    hint: 'Say fewer (--requests), or raise `parallel` of the placement and apply.',
  },
  'bench/no-answer': {
    severity: 'error',
    summary: 'Requests of a measurement came to nothing.',
    cause:
      'The endpoint refused them, answered with something else than a text, or was not done before the deadline; a mesh that answers one request may be too slow for several at once.',
    hint: prose`Give long answers more time: --deadline 5m; else look at it: ${meshwright('status')}`,
  },
  'bench/no-power': {
    severity: 'notice',
    summary: 'Nobody knows what the Macs of the placement took.',
    cause:
      '`powermetrics` of each of them is asked, as root: one that has no sudo rule of ours, or prints something else, leaves the sum unknown.',
    hint: prose`Nothing else is missing. For the sudo rule: ${meshwright('enroll')}`,
  },
} as const satisfies Record<string, CodeEntry>;
