import { subjectNodes } from './subject.ts';
import type { Trouble } from './troubles.ts';

/** The visits to Recovery that are due, as one work list: nobody goes to the rack twice. */
export interface Recovery {
  readonly nodes: readonly string[];
  /** What to type and to press, in this order. */
  readonly steps: readonly string[];
}

/**
 * What to press, one after the other, for all Macs at once.
 *
 * @see Apple TN3205: `rdma_ctl enable` works in Recovery alone, which only the power button opens
 */
const stepsFor = (nodes: readonly string[]): readonly string[] => [
  `From here: meshwright shutdown ${nodes.join(' ')}`,
  'At each Mac: hold the power button until "Loading startup options" shows.',
  'Options, Continue; then in the menu bar Utilities > Terminal.',
  'Type: rdma_ctl enable',
  'Apple menu > Restart, and on to the next Mac meanwhile.',
  `From here, when all are back: meshwright doctor ${nodes.join(' ')}`,
];

/** The work list of Recovery, or undefined when no Mac has to go there. */
export function recoveryOf(troubles: readonly Trouble[]): Recovery | undefined {
  const due = troubles.filter(({ stage }) => stage === 'recovery');
  const nodes = due.flatMap(({ finding }) => subjectNodes(finding.subject ?? ''));
  return nodes.length === 0 ? undefined : { nodes, steps: stepsFor(nodes) };
}
