import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Exit } from '../../model/exit.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, prose } from '../../model/text/prose.ts';
import { classifySudo, sudoRule } from '../../node/sudo-answer.ts';
import { quoteNodeText } from '../connect-failure.ts';

/** Where a rule for one user goes; two blanks before a line keep it whole on every page. */
const addRule = (line: string): string =>
  `Put this line into /etc/sudoers.d/meshwright on the node (mode 0440, checked with visudo -cf):\n  ${line}`;

/** Says what keeps sudo from working; undefined when nothing does, or nobody knows. */
export function diagnoseSudo(label: string, user: string, exit: Exit, stderr: string): Diagnostic | undefined {
  const answer = classifySudo(exit, stderr);
  const said = quoteNodeText(stderr.trim().split('\n').at(-1) ?? '');
  const fields = { detail: prose`${labelled(label)}sudo -n said "${said}" to ${user}.`, subject: nodeSubject(label) };
  switch (answer) {
    case 'needs-password':
      return diagnose('ssh/sudo-needs-password', {
        ...fields,
        hint: addRule(sudoRule(user)),
      });
    case 'needs-terminal':
      return diagnose('ssh/sudo-needs-terminal', { ...fields, hint: addRule(`Defaults:${user} !requiretty`) });
    case 'denied':
    case 'broken':
      return diagnose('ssh/sudo-denied', fields);
    case 'allowed':
    case 'other':
      return undefined;
  }
}
