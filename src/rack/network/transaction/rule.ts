import { escapeText } from '../../../diagnostics/escape.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { NodeRollback } from '../../../model/facts/node-records.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { utcText } from '../../../model/text/units.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../../define-rule.ts';
import { readValue } from '../../fact.ts';
import { rollbacksFact } from './fact.ts';

const codes = {
  'network/unconfirmed-change': {
    severity: 'warning',
    summary: 'A change of the network waits on this node for its confirmation.',
    cause:
      'A run changed the network of this node and has not confirmed yet that the node is still reached: it goes on, or it was cut off. Without a confirmation the node puts its network back to what it was before.',
    hint: prose`When that run is over, settle it with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [rollbacksFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}(?:\.\d+)?$/.test(text);

/** When the node puts its network back, by its own clock; it does so at once when it starts anew. */
function endText({ state, fields: { since, seconds } }: NodeRollback): string {
  if (state === 'rolling') return 'The node is taking it back now.';
  const at =
    isNumber(since) && isNumber(seconds) ? `at ${utcText(Math.ceil(Number(since) + Number(seconds)))}` : 'soon';
  return `The node takes it back by itself ${at} by its own clock, unless it is confirmed before.`;
}

function told(node: string, rollback: NodeRollback): Found {
  const { run = 'unknown', by, step } = rollback.fields;
  const who = by === undefined ? '' : ` (${escapeText(by)})`;
  const own = `${node}/`;
  const name =
    step?.startsWith(own) === true
      ? prose`${named(node)}/${escapeText(step.slice(own.length))}`
      : escapeText(step ?? '');
  const what = step === undefined ? '' : prose`, ${name},`;
  return {
    code: 'network/unconfirmed-change',
    detail: prose`A network change of run ${escapeText(run)}${who}${what} is not confirmed. ${endText(rollback)}`,
    hint: withCommands('Unless that run still goes on, settle it now', [meshwright('apply', node)]),
  };
}

/** Network changes that nobody has confirmed yet: what is seen of the network of that node holds no longer than they do. */
export const unconfirmedChange = defineNodeRule(codes, ({ name, facts }) =>
  (readValue(facts, rollbacksFact) ?? []).map((one) => told(name, one)),
);
