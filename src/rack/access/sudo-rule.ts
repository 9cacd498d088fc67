import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { sudoFact } from './sudo-fact.ts';

/** Nodes on which `sudo -n` does not answer, so that nothing could be changed there. */
export const sudo: Rule = ({ nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = read(facts, sudoFact);
    if (seen.kind === 'unknown' || seen.value === 'allowed') {
      return [];
    }
    const detail =
      seen.value === 'denied'
        ? 'The user may not use sudo: this node can be looked at, not changed.'
        : 'sudo asks for a password: this node can be looked at, not changed.';
    const code = seen.value === 'denied' ? 'sudo/denied' : 'sudo/needs-password';
    return [
      diagnose(code, {
        subject: nodeSubject(name),
        detail,
        hint: withCommands('See the line to add', [meshwright('enroll', name)]),
      }),
    ];
  });
