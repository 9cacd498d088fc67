import { its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about nodes that are to be left alone. */
export const holdCodes = {
  'hold/held': {
    severity: 'notice',
    summary: 'This node is held: it is looked at, and not changed.',
    cause:
      '`hold` has written that down on the node, or the file has `hold` at it. Whatever a plan would change on the node waits, and placements with a member on it stay as they are.',
    hint: prose`When it may be changed again: ${meshwright('release', its.node)}`,
  },
  'hold/expired': {
    severity: 'warning',
    summary: 'The time for which this node was held is over.',
    cause: 'The last day of its hold has ended, in UTC. The node is changed again as any other.',
    hint: prose`Say that it may: ${meshwright('release', its.node)}`,
  },
} as const satisfies Record<string, CodeEntry>;
