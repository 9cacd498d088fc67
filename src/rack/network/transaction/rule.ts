import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { NodeRollback } from '../../../model/facts/node-records.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { utcText } from '../../../model/text/units.ts';
import { defineRule, ruleCodes } from '../../define-rule.ts';
import { read } from '../../fact.ts';
import { rollbacksFact } from './fact.ts';

const codes = ruleCodes({
  'network/unconfirmed-change': {
    severity: 'warning',
    summary: 'A change of the network waits on this node for its confirmation.',
    cause:
      'A run changed the network of this node and has not confirmed yet that the node is still reached: it goes on, or it was cut off. Without a confirmation the node puts its network back to what it was before.',
    hint: prose`When that run is over, settle it with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [rollbacksFact],
  },
});

const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}(?:\.\d+)?$/.test(text);

/** When the node puts its network back, by its own clock; it does so at once when it starts anew. */
function endText({ state, fields: { since, seconds } }: NodeRollback): string {
  if (state === 'rolling') return 'The node is taking it back now.';
  const at =
    isNumber(since) && isNumber(seconds) ? `at ${utcText(Math.ceil(Number(since) + Number(seconds)))}` : 'soon';
  return `The node takes it back by itself ${at} by its own clock, unless it is confirmed before.`;
}

function told(node: string, rollback: NodeRollback): Diagnostic {
  const { run = 'unknown', by, step } = rollback.fields;
  const who = by === undefined ? '' : ` (${escapeText(by)})`;
  const own = `${node}/`;
  const name =
    step?.startsWith(own) === true
      ? prose`${named(node)}/${escapeText(step.slice(own.length))}`
      : escapeText(step ?? '');
  const what = step === undefined ? '' : prose`, ${name},`;
  return diagnose(codes['network/unconfirmed-change'], {
    subject: nodeSubject(node),
    detail: prose`A network change of run ${escapeText(run)}${who}${what} is not confirmed. ${endText(rollback)}`,
    hint: withCommands('Unless that run still goes on, settle it now', [meshwright('apply', node)]),
  });
}

/** Network changes that nobody has confirmed yet: what is seen of the network of that node holds no longer than they do. */
export const unconfirmedChange = defineRule(codes, ({ nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const rollbacks = read(facts, rollbacksFact);
    return rollbacks.kind === 'known' ? rollbacks.value.map((one) => told(name, one)) : [];
  }),
);
