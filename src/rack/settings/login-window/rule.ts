import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { named, prose } from '../../../model/text/prose.ts';
import type { ExaminedNode } from '../../examination.ts';
import type { Rule } from '../../rule.ts';

const place = 'System Settings > Users & Groups > Automatically log in as';

function required({ name, facts }: ExaminedNode): readonly Diagnostic[] {
  const subject = nodeSubject(name);
  if (facts.filevault.kind === 'known' && facts.filevault.value === 'on') {
    return [diagnose('login/needs-filevault-off', { subject, detail: 'FileVault is on, and the file wants a login.' })];
  }
  const seen = facts['automatic-login'];
  return seen.kind === 'unknown' || seen.value.user !== undefined
    ? []
    : [
        diagnose('login/differs', {
          subject,
          detail: 'Nobody is logged in when it starts. The file says required.',
          hint: prose`On ${named(name)}: ${place}: the account that is to be logged in.`,
        }),
      ];
}

function off({ name, facts: { 'automatic-login': seen } }: ExaminedNode): readonly Diagnostic[] {
  return seen.kind === 'unknown' || seen.value.user === undefined
    ? []
    : [
        diagnose('login/differs', {
          subject: nodeSubject(name),
          detail: `It logs ${seen.value.user} in when it starts. The file says disabled.`,
          hint: prose`On ${named(name)}: ${place}: Off.`,
        }),
      ];
}

/** Automatic login that is otherwise than the file wants, which only hands can change. */
export const automaticLogin: Rule = ({ desired: { system }, nodes }) => {
  const { automaticLogin: wanted } = system;
  return wanted === undefined ? [] : nodes.flatMap(wanted === 'disabled' ? off : required);
};
