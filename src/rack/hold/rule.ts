import { escapeText } from '../../diagnostics/escape.ts';
import { blank, its, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { holdFact } from './hold-fact.ts';
import { holdsOf, releaseText } from './reading.ts';

const codes = {
  'hold/held': {
    severity: 'notice',
    summary: 'This node is on hold: meshwright observes it but does not change it.',
    cause:
      'The command `hold` put the node on hold, or the file sets `hold` for it. All planned changes to the node wait, and placements with a rank on it remain unchanged.',
    hint: prose`To end the hold: ${meshwright('release', its.node)}`,
    facts: [holdFact],
  },
  'hold/expired': {
    severity: 'warning',
    summary: 'The hold on this node has expired.',
    cause: 'The last day of the hold is over (in UTC), so meshwright changes this node again.',
    hint: prose`Remove the expired hold: ${meshwright('release', its.node)}`,
    facts: [holdFact],
  },
} satisfies RuleCodes;

export const holds = defineNodeRule(codes, ({ name, desired, facts }) =>
  holdsOf(desired, facts).map((held): Finding<keyof typeof codes> => {
    const { reason, until, isOver, by } = held;
    const who = by === undefined ? '(set in the cluster file)' : `(set by ${escapeText(by)})`;
    const why = escapeText(reason).replace(/\.$/, '');
    if (isOver) {
      return {
        code: 'hold/expired',
        detail: prose`${named(name)} was on hold ${who} until ${until ?? ''}: ${why}. That day is over, so meshwright changes this node again.`,
        hint: prose`Remove the expired hold: ${releaseText(name, held)}. Or extend it: ${meshwright('hold', name, '--until', blank('DATE'))}`,
      };
    }
    const end = until === undefined ? '' : ` until ${until}`;
    return {
      code: 'hold/held',
      detail: prose`${named(name)} is on hold ${who}${end}: ${why}.`,
      hint: prose`To end the hold: ${releaseText(name, held)}`,
    };
  }),
);
