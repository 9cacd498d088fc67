import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type Subject, subjectName, subjectNodes, subjectText } from '../model/subject.ts';
import { mapNames, mentionsAny, type Prose, prose } from '../model/text/prose.ts';

/** Findings with one code and one cure, told together. */
export interface MergedFinding extends Pick<Diagnostic, 'code' | 'severity' | 'summary' | 'hands'> {
  /** What it is about, without the words `node` and `link`: `studio-1`, `studio-1:2 <-> studio-2:2`. */
  readonly subjects: readonly string[];
  /** One text when all say the same, else one per subject. */
  readonly details: readonly Prose[];
  readonly hint: Prose;
  /** The findings themselves. */
  readonly of: readonly Diagnostic[];
}

const severities: readonly Diagnostic['severity'][] = ['error', 'warning', 'notice'];

/** The one node that a finding is about; findings about several, or about a link, are told with their own words. */
const onlyNode = ({ subject }: Diagnostic): string | undefined =>
  subject?.kind === 'node' && subject.names.length === 1 ? subject.names[0] : undefined;

/** The same text about other nodes than the one of its finding. */
const about = (finding: Diagnostic, text: Prose, names: readonly string[]): Prose =>
  mapNames(text, (name) => (name === onlyNode(finding) ? names : [name]));

/** What findings have in common that say the same, each about its own node. */
const patternOf = (finding: Diagnostic, text: Prose): string => JSON.stringify(about(finding, text, ['']));

const named: readonly Subject['kind'][] = ['node', 'link', 'receptacle'];

/** A node, a link and a receptacle are known by their names; anything else says what it is. */
const nameOf = ({ subject }: Diagnostic): string =>
  subject !== undefined && named.includes(subject.kind) ? subjectName(subject) : subjectText(subject);

function mergeOne(same: readonly Diagnostic[], first: Diagnostic): MergedFinding {
  const names = same.map((one) => onlyNode(one) ?? '');
  const patterns = new Set(same.map((one) => patternOf(one, one.detail)));
  const { code, severity, summary, hands } = first;
  return {
    code,
    severity,
    summary,
    ...(hands && { hands }),
    subjects: same.map(nameOf),
    details:
      patterns.size === 1
        ? [about(first, first.detail, names)]
        : same.map((one) =>
            mentionsAny(one.detail, subjectNodes(one.subject)) ? one.detail : prose`${nameOf(one)}: ${one.detail}`,
          ),
    hint: about(first, first.hint, names),
    of: same,
  };
}

/**
 * Findings as people want to hear them: errors first, else in their own order, and those that one act cures once.
 * Four nodes with one trouble are one finding with four subjects.
 */
export function mergeFindings(findings: readonly Diagnostic[]): readonly MergedFinding[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const one of findings) {
    const key = [one.severity, one.code, patternOf(one, one.hint)].join('\n');
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const merged = [...groups.values()].flatMap((same) => (same[0] === undefined ? [] : [mergeOne(same, same[0])]));
  return merged.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}
