import { escapeText } from '../../diagnostics/escape.ts';
import { blank, its, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { holdFact } from './hold-fact.ts';
import { holdsOf, releaseText } from './node-holds.ts';

const codes = {
  'hold/held': {
    severity: 'notice',
    summary: 'This node is held: it is looked at, and not changed.',
    cause:
      '`hold` has written that down on the node, or the file has `hold` at it. Whatever a plan would change on the node waits, and placements with a member on it stay as they are.',
    hint: prose`When it may be changed again: ${meshwright('release', its.node)}`,
    role: 'told',
    facts: [holdFact],
  },
  'hold/expired': {
    severity: 'warning',
    summary: 'The time for which this node was held is over.',
    cause: 'The last day of its hold has ended, in UTC. The node is changed again as any other.',
    hint: prose`Say that it may: ${meshwright('release', its.node)}`,
    role: 'told',
    facts: [holdFact],
  },
} satisfies RuleCodes;

/** Nodes that are left alone, and those of which the time for that is over. */
export const holds = defineNodeRule(codes, ({ name, desired, facts }) =>
  holdsOf(desired, facts).map((held): Finding<keyof typeof codes> => {
    const { reason, until, isOver, by } = held;
    const who = by === undefined ? 'by the cluster file' : `by ${escapeText(by)}`;
    const why = escapeText(reason).replace(/\.$/, '');
    if (isOver) {
      return {
        code: 'hold/expired',
        detail: prose`${named(name)} was held ${who} until ${until ?? ''}: ${why}. That day is over, so it is changed again as any other.`,
        hint: prose`Say that it may: ${releaseText(name, held)}. Or hold it for longer: ${meshwright('hold', name, '--until', blank('DATE'))}`,
      };
    }
    const end = until === undefined ? '' : ` until ${until}`;
    return {
      code: 'hold/held',
      detail: prose`${named(name)} is held ${who}${end}: ${why}.`,
      hint: prose`When it may be changed again: ${releaseText(name, held)}`,
    };
  }),
);
