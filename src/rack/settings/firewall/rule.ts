import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import { nodeSubject } from '../../../model/subject.ts';
import type { ExaminedNode } from '../../examination.ts';
import type { Rule } from '../../rule.ts';

const words = {
  on: 'The application firewall is on',
  'blocks-all': 'The application firewall blocks everything',
} as const;

function judge({ system, placements }: DesiredFleet, { name, facts }: ExaminedNode): readonly Diagnostic[] {
  if (facts.firewall.kind === 'unknown' || facts.firewall.value === 'off') {
    return [];
  }
  const subject = nodeSubject(name);
  const said = words[facts.firewall.value];
  if (system.firewall === 'disabled') {
    return [diagnose('firewall/on', { subject, detail: `${said}. The file says disabled.` })];
  }
  const listening = placements.filter(({ state, nodes }) => state === 'serving' && nodes.some((one) => one === name));
  const who = listening.map((one) => one.name).join(', ');
  return listening.length === 0
    ? []
    : [diagnose('firewall/in-the-way', { subject, detail: `${said}, and ${who} listens here.` })];
}

/** An application firewall that the file wants off, or that can keep others from a placement of its node. */
export const firewall: Rule = ({ desired, nodes }) => nodes.flatMap((node) => judge(desired, node));
