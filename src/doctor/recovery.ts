import { subjectNodes } from './subject.ts';
import type { Trouble } from './troubles.ts';

/** The visits to Recovery that are due, as one work list: nobody goes to the rack twice. */
export interface Recovery {
  readonly nodes: readonly string[];
  /** What to type and to press, in this order. */
  readonly steps: readonly string[];
}

/**
 * What to press at one Mac so that it can do RDMA, in this order; the first goes on a sentence that names the Mac.
 *
 * @see Apple TN3205: `rdma_ctl enable` works in Recovery alone, which only the power button opens
 */
export const recoveryKeys = {
  hold: 'hold the power button until "Loading startup options" shows.',
  open: 'Options, Continue; then in the menu bar Utilities > Terminal.',
  type: 'Type: rdma_ctl enable',
  leave: 'Apple menu > Restart',
} as const;

/** What to press, one after the other, for all Macs at once. */
const stepsFor = (nodes: readonly string[]): readonly string[] => [
  `From here: meshwright shutdown ${nodes.join(' ')}`,
  `At each Mac: ${recoveryKeys.hold}`,
  recoveryKeys.open,
  recoveryKeys.type,
  `${recoveryKeys.leave}, and on to the next Mac meanwhile.`,
  `From here, when all are back: meshwright doctor ${nodes.join(' ')}`,
];

/** The work list of Recovery, or undefined when no Mac has to go there. */
export function recoveryOf(troubles: readonly Trouble[]): Recovery | undefined {
  const due = troubles.filter(({ stage }) => stage === 'recovery');
  const nodes = due.flatMap(({ finding }) => subjectNodes(finding.subject ?? ''));
  return nodes.length === 0 ? undefined : { nodes, steps: stepsFor(nodes) };
}
