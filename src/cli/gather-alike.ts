import { codes } from '../diagnostics/codes.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { mergeFindings } from '../report/merge-findings.ts';

/** Several problems of one node are about one node. */
function subjectOf(subjects: readonly string[]): string {
  const names = [...new Set(subjects)];
  return `${names.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}`;
}

/** Diagnostics about nodes, with those that have one cause and one cure told once: sixteen nodes, one missing key. */
export function gatherAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return mergeFindings(diagnostics).map(({ code, severity, subjects, details, hint }) => ({
    code,
    severity,
    summary: codes[code].summary,
    detail: details.join('\n'),
    hint,
    ...(subjects.length === 0 ? {} : { subject: subjectOf(subjects) }),
    related: [],
  }));
}
