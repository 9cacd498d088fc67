import { columnsOf } from '../diagnostics/cells.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { proseText } from '../diagnostics/prose-text.ts';
import { groupBy } from '../model/lists.ts';
import {
  namedSubject,
  nodesSubject,
  type Subject,
  subjectEnds,
  subjectName,
  subjectNodes,
  subjectText,
} from '../model/subject.ts';
import { isLabelled, joinProse, mapNames, mentionsAny, type Prose, prose } from '../model/text/prose.ts';
import { hang, isNarrow, type Page, type Tone } from './page.ts';

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

const tones: Readonly<Record<MergedFinding['severity'], Tone>> = { error: 'bad', warning: 'warn', notice: 'dim' };

/** A few node names stand before what is wrong with them; ends of a cable, with their own colons, above it. */
function paragraphs({ subjects, details, of }: MergedFinding): readonly Prose[] {
  const about = subjects.join(', ');
  const isAtCables = of.some(({ subject }) => subjectEnds(subject).length > 0);
  const [detail] = details;
  if (detail === undefined || details.length > 1 || isAtCables || about === '') return [about, ...details];
  return [isLabelled(detail) ? detail : prose`${about}: ${detail}`];
}

/**
 * Some details and hints have several lines, such as a known and a seen host key; each is escaped by itself. A line
 * that begins with two blanks is there to be copied and stays in one piece, however narrow the page is.
 */
export function hangLines(first: string, text: Prose, page: Page): readonly string[] {
  const indent = ' '.repeat(columnsOf(first));
  return proseText(text, page)
    .split('\n')
    .flatMap((line, index) => {
      const start = index === 0 ? first : indent;
      const told = escapeText(line.trim());
      return line.startsWith('  ') ? [`${start}${told}`] : hang(start, told, page.columns);
    });
}

/** One finding: how bad, about what, what is wrong, what to do. */
export function findingLines(finding: MergedFinding, page: Page): readonly string[] {
  const { severity } = finding;
  const indent = isNarrow(page) ? '    ' : ' '.repeat(11);
  const first = isNarrow(page) ? `  ${severity}  ` : `  ${severity}`.padEnd(indent.length);
  const [head = '', ...others] = paragraphs(finding);
  const [top = '', ...rest] = hangLines(first, head, page);
  return [
    `  ${page.paint(tones[severity], severity)}${top.slice(columnsOf(`  ${severity}`))}`,
    ...rest.map((line) => line.trimEnd()),
    ...others.flatMap((detail) => hangLines(indent, detail, page)),
    ...hangLines(`${indent}${arrow(page)}`, finding.hint, page),
  ];
}

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
  const groups = groupBy(findings, (one) => [one.severity, one.code, patternOf(one, one.hint)].join('\n'));
  const merged = [...groups.values()].flatMap((same) => (same[0] === undefined ? [] : [mergeOne(same, same[0])]));
  return merged.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}

/** `-> `, or an arrow where the terminal has one. */
const arrow = ({ unicode }: Page): string => (unicode ? '→ ' : '-> ');
