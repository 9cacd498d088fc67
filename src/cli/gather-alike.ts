import { codes } from '../diagnostics/codes.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type MergedFinding, mergeFindings } from '../report/merge-findings.ts';

/** The words before a subject that a merged finding leaves out. */
const kinds = ['node', 'link', 'receptacle'] as const;

/** Several problems of one node are about one node; what says itself what it is, such as `placement chat`, stays as it is. */
function subjectOf({ subjects, of }: MergedFinding): string {
  const names = [...new Set(subjects)];
  const kind = kinds.find((one) => of.every(({ subject = '' }) => new RegExp(`^${one}s? `).test(subject)));
  if (kind === undefined) return names.join(', ');
  const isOne = names.length === 1 && !of.some(({ subject = '' }) => subject.startsWith(`${kind}s `));
  return `${kind}${isOne ? '' : 's'} ${names.join(', ')}`;
}

/** Diagnostics with those that have one cause and one cure told once: sixteen nodes, one missing key. */
export function gatherAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return mergeFindings(diagnostics).map((finding) => ({
    code: finding.code,
    severity: finding.severity,
    summary: codes[finding.code].summary,
    detail: finding.details.join('\n'),
    hint: finding.hint,
    ...(finding.subjects.length === 0 ? {} : { subject: subjectOf(finding) }),
    related: [],
  }));
}
