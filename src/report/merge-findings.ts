import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { subjectNodes } from '../doctor/subject.ts';

/** Findings with one code and one cure, told together. */
export interface MergedFinding {
  readonly severity: Diagnostic['severity'];
  readonly code: Diagnostic['code'];
  /** What it is about, without the words `node` and `link`: `studio-1`, `studio-1:2 <-> studio-2:2`. */
  readonly subjects: readonly string[];
  /** One sentence when all say the same, else one per subject. */
  readonly details: readonly string[];
  readonly hint: string;
  /** The findings themselves. */
  readonly of: readonly Diagnostic[];
}

const severities: readonly Diagnostic['severity'][] = ['error', 'warning', 'notice'];
const placeholder = '\u0000';

/** The one node that a finding is about; findings about several, or about a link, are told with their own words. */
const onlyNode = ({ subject = '' }: Diagnostic): string | undefined =>
  subject.startsWith('node ') ? subjectNodes(subject)[0] : undefined;

function blank(text: string, name: string | undefined): string {
  return name === undefined
    ? text
    : // A part of a host name (`mesh@mac1.lan`) is no name of a node.
      text.replaceAll(new RegExp(`(?<![a-z0-9@.-])${name}(?![a-z0-9-]|\\.[a-z0-9])`, 'g'), placeholder);
}

/** Names go back as people list them, and behind a command of ours as a shell takes them. */
function fill(template: string, names: readonly string[]): string {
  return template
    .replaceAll(
      new RegExp(`(meshwright \\S+) ${placeholder}`, 'g'),
      (_all, verb: string) => `${verb} ${names.join(' ')}`,
    )
    .replaceAll(placeholder, names.join(', '));
}

const subjectText = ({ subject = '' }: Diagnostic): string => subject.replace(/^(nodes?|link|receptacle) /, '');

function mergeOne(same: readonly Diagnostic[], first: Diagnostic): MergedFinding {
  const names = same.map((one) => onlyNode(one) ?? '');
  const details = new Set(same.map((one) => blank(one.detail, onlyNode(one))));
  const [detail = ''] = details;
  return {
    severity: first.severity,
    code: first.code,
    subjects: same.map(subjectText),
    details:
      details.size === 1
        ? [fill(detail, names)]
        : same.map((one) => {
            const isNamed = subjectNodes(one.subject ?? '').some((name) => blank(one.detail, name) !== one.detail);
            return isNamed ? one.detail : `${subjectText(one)}: ${one.detail}`;
          }),
    hint: fill(blank(first.hint, onlyNode(first)), names),
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
    const key = [one.severity, one.code, blank(one.hint, onlyNode(one))].join('\n');
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const merged = [...groups.values()].flatMap((same) => (same[0] === undefined ? [] : [mergeOne(same, same[0])]));
  return merged.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}
