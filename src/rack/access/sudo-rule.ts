import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import { read } from '../fact.ts';
import { sudoFact } from './sudo-fact.ts';

/** Nodes on which `sudo -n` does not answer, so that nothing could be changed there. */
export const sudo = defineRule(
  {
    'sudo/needs-password': {
      severity: 'warning',
      summary: 'sudo asks for a password on this node.',
      cause: 'Looking needs no root, but every change does, and nobody is there to type a password.',
      hint: prose`See the exact line to add: ${meshwright('enroll')}`,
      role: { blocks: 'sudo' },
      facts: [sudoFact],
    },
    'sudo/denied': {
      severity: 'warning',
      summary: 'The user may not use sudo on this node.',
      cause: 'The ssh user is in no sudoers rule: meshwright can look at the node and change nothing.',
      hint: prose`See the exact line to add: ${meshwright('enroll')}`,
      role: { blocks: 'sudo' },
      facts: [sudoFact],
    },
  },
  ({ nodes }, codes) =>
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
        diagnose(codes[code], {
          subject: nodeSubject(name),
          detail,
          hint: withCommands('See the line to add', [meshwright('enroll', name)]),
        }),
      ];
    }),
);
