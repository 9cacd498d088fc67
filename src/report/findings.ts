import { columnsOf, firmSpace } from '../diagnostics/cells.ts';
import { type Diagnostic, severities } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { proseText } from '../diagnostics/prose-text.ts';
import { given } from '../model/given.ts';
import { alike } from '../model/lists.ts';
import { everyNodeText } from '../model/node.ts';
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

/** The common subject of merged findings. Subjects that name their kind, such as `placement chat`, remain unchanged. */
function subjectOf(of: readonly Diagnostic[]): Subject {
  const all = of.flatMap(({ subject }) => subject ?? []);
  const kinds = new Set(of.map(({ subject }) => subject?.kind));
  if (kinds.size === 1 && kinds.has('node')) return nodesSubject([...new Set(all.flatMap(subjectNodes))]);
  const names = [...new Set(of.map(nameOf))];
  const [first] = all;
  if (first !== undefined && names.length === 1) return first;
  const kind = kinds.size === 1 && (kinds.has('link') || kinds.has('receptacle')) ? `${first?.kind}s ` : '';
  return namedSubject(`${kind}${names.join(', ')}`);
}

/** Merges diagnostics that have the same cause and hint, such as sixteen nodes that lack one key. */
export function gatherAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return mergeFindings(diagnostics).map(({ details, of, ...finding }) => ({
    ...finding,
    detail: joinProse(details, '\n'),
    subject: subjectOf(of),
    related: [],
  }));
}

const tones: Readonly<Record<MergedFinding['severity'], Tone>> = { error: 'bad', warning: 'warn', notice: 'dim' };

/** `cluster.yaml:32:23, runtime mlx`: a finding about the file begins with its place. */
const placeText = ({ of }: MergedFinding, about: string): string => {
  const [{ where } = {}] = of;
  return where === undefined ? about : `${where.file}:${where.line}:${where.column}, ${about}`;
};

/** Puts node names before the detail, but cable ends above it because they contain colons. */
function paragraphs(finding: MergedFinding): readonly Prose[] {
  const { details, of } = finding;
  const about = placeText(finding, namesOf(of));
  const isAtCables = of.some(({ subject }) => subjectEnds(subject).length > 0);
  const [detail] = details;
  if (detail === undefined || details.length > 1 || isAtCables || about === '') return [about, ...details];
  return [isLabelled(detail) ? detail : prose`${about}: ${detail}`];
}

/** Escapes each line of a text separately. A line that begins with two blanks is for copying and never broken. */
export function hangLines(first: string, text: Prose, page: Page): readonly string[] {
  const indent = ' '.repeat(columnsOf(first));
  return proseText(text, page, firmSpace)
    .split('\n')
    .flatMap((line, index) => {
      const start = index === 0 ? first : indent;
      const escaped = escapeText(line.trim());
      return line.startsWith('  ')
        ? [`${start}${escaped.replaceAll(firmSpace, ' ')}`]
        : hang(start, escaped, page.columns);
    });
}

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

/** Findings with the same code and hint, shown as one. */
export interface MergedFinding extends Pick<Diagnostic, 'code' | 'severity' | 'exit' | 'traits' | 'summary'> {
  /** One text if all are equal, otherwise one per subject. */
  readonly details: readonly Prose[];
  readonly hint: Prose;
  readonly of: readonly Diagnostic[];
}

const onlyNode = ({ subject }: Diagnostic): string | undefined =>
  subject?.kind === 'node' && subject.names.length === 1 ? subject.names[0] : undefined;

const about = (finding: Diagnostic, text: Prose, names: readonly string[]): Prose =>
  mapNames(text, (name) => (name === onlyNode(finding) ? names : [name]));

/** Identical for texts that differ only in the node name. */
const patternOf = (finding: Diagnostic, text: Prose): string => JSON.stringify(about(finding, text, ['']));

const named: readonly Subject['kind'][] = ['node', 'link', 'receptacle'];

/** The bare name of a node, link or receptacle. The names of other subjects include their kind. */
const nameOf = ({ subject }: Diagnostic): string =>
  subject !== undefined && named.includes(subject.kind) ? subjectName(subject) : subjectText(subject);

/** `studio-1..4`, or the names of other subjects. */
function namesOf(findings: readonly Diagnostic[]): string {
  const isAboutNodes = findings.every(({ subject }) => subject?.kind === 'node');
  const names = isAboutNodes ? findings.flatMap(({ subject }) => subjectNodes(subject)) : findings.map(nameOf);
  return isAboutNodes ? everyNodeText([...new Set(names)]) : names.join(', ');
}

function mergeOne([first, same]: readonly [Diagnostic, readonly Diagnostic[]]): MergedFinding {
  const names = (all: readonly Diagnostic[]): readonly string[] => all.map((one) => onlyNode(one) ?? '');
  const groups = alike(same, (one) => patternOf(one, one.detail));
  const { code, severity, exit, traits, summary } = first;
  return {
    code,
    severity,
    ...given({ exit, traits }),
    summary,
    details: groups.map(([one, group]) => {
      const detail = about(one, one.detail, names(group));
      if (groups.length === 1 || mentionsAny(one.detail, subjectNodes(one.subject))) return detail;
      return prose`${namesOf(group)}: ${detail}`;
    }),
    hint: about(first, first.hint, names(same)),
    of: same,
  };
}

/** Sorts findings by severity and merges those with one action: one problem on four nodes has four subjects. */
export function mergeFindings(findings: readonly Diagnostic[]): readonly MergedFinding[] {
  const groups = alike(findings, (one) => [one.severity, one.code, patternOf(one, one.hint)].join('\n'));
  const merged = groups.map(mergeOne);
  return merged.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}

/** `-> `, or a real arrow on a Unicode terminal. */
const arrow = ({ unicode }: Page): string => (unicode ? '→ ' : '-> ');
