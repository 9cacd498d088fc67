import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { namedSubject, nodesSubject, type Subject, subjectNodes } from '../../model/subject.ts';
import { joinProse } from '../../model/text/prose.ts';
import { type MergedFinding, mergeFindings } from '../../report/findings.ts';

/** Several problems of one node are about one node; what says itself what it is, such as `placement chat`, stays as it is. */
function subjectOf({ subjects, of }: MergedFinding): Subject {
  const all = of.flatMap(({ subject }) => subject ?? []);
  const kinds = new Set(of.map(({ subject }) => subject?.kind));
  if (kinds.size === 1 && kinds.has('node')) return nodesSubject([...new Set(all.flatMap(subjectNodes))]);
  const names = [...new Set(subjects)];
  const [first] = all;
  if (first !== undefined && names.length === 1) return first;
  const kind = kinds.size === 1 && (kinds.has('link') || kinds.has('receptacle')) ? `${first?.kind}s ` : '';
  return namedSubject(`${kind}${names.join(', ')}`);
}

/** Diagnostics with those that have one cause and one cure told once: sixteen nodes, one missing key. */
export function gatherAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return mergeFindings(diagnostics).map((finding) => ({
    code: finding.code,
    severity: finding.severity,
    summary: finding.summary,
    ...(finding.hands && { hands: finding.hands }),
    detail: joinProse(finding.details, '\n'),
    hint: finding.hint,
    ...(finding.subjects.length === 0 ? {} : { subject: subjectOf(finding) }),
    related: [],
  }));
}
