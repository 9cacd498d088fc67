import { columnsOf } from '../diagnostics/cells.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { proseText } from '../diagnostics/prose-text.ts';
import { subjectEnds } from '../model/subject.ts';
import { isLabelled, type Prose, prose } from '../model/text/prose.ts';
import { hang } from './layout.ts';
import type { MergedFinding } from './merge-findings.ts';
import { arrow, type Page, type Tone } from './page.ts';

const tones: Readonly<Record<MergedFinding['severity'], Tone>> = { error: 'bad', warning: 'warn', notice: 'dim' };
const narrow = 60;

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
  const indent = page.columns < narrow ? '    ' : ' '.repeat(11);
  const first = page.columns < narrow ? `  ${severity}  ` : `  ${severity}`.padEnd(indent.length);
  const [head = '', ...others] = paragraphs(finding);
  const [top = '', ...rest] = hangLines(first, head, page);
  return [
    `  ${page.paint(tones[severity], severity)}${top.slice(columnsOf(`  ${severity}`))}`,
    ...rest.map((line) => line.trimEnd()),
    ...others.flatMap((detail) => hangLines(indent, detail, page)),
    ...hangLines(`${indent}${arrow(page)}`, finding.hint, page),
  ];
}
