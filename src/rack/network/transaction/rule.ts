import { escapeText } from '../../../diagnostics/escape.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { NodeTransaction } from '../../../model/facts/node-records.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { utcText } from '../../../model/text/units.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../../define-rule.ts';
import { readValue } from '../../fact.ts';
import { transactionsFact } from './fact.ts';

const codes = {
  'network/unconfirmed-change': {
    severity: 'warning',
    summary: 'A network change on this node is waiting for confirmation.',
    cause:
      "A run changed this node's network but has not yet confirmed that the node is still reachable. The run is still active, or it was interrupted. Without confirmation, the node restores its previous network settings.",
    hint: prose`When that run is over, settle the change with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [transactionsFact],
  },
} satisfies RuleCodes;

const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}(?:\.\d+)?$/.test(text);

/** The time at which the node rolls the change back, by the node's clock; after a restart, immediately. */
function endText({ state, fields: { since, seconds } }: NodeTransaction): string {
  if (state === 'rolling') return 'The node is rolling it back now.';
  const at =
    isNumber(since) && isNumber(seconds) ? `at ${utcText(Math.ceil(Number(since) + Number(seconds)))}` : 'soon';
  return `The node rolls it back ${at} (by its own clock), unless a run confirms it first.`;
}

function changeFinding(node: string, transaction: NodeTransaction): Finding<keyof typeof codes> {
  const { run = 'unknown', by, step } = transaction.fields;
  const who = by === undefined ? '' : ` (${escapeText(by)})`;
  const own = `${node}/`;
  const name =
    step?.startsWith(own) === true
      ? prose`${named(node)}/${escapeText(step.slice(own.length))}`
      : escapeText(step ?? '');
  const what = step === undefined ? '' : prose`, ${name},`;
  return {
    code: 'network/unconfirmed-change',
    detail: prose`A network change of run ${escapeText(run)}${who}${what} is not confirmed. ${endText(transaction)}`,
    hint: withCommands('If that run is over, settle the change now', [meshwright('apply', node)]),
  };
}

/** Unconfirmed network changes. The observed network of such a node is valid only until the change is rolled back. */
export const unconfirmedChange = defineNodeRule(codes, ({ name, facts }) =>
  (readValue(facts, transactionsFact) ?? []).map((one) => changeFinding(name, one)),
);
