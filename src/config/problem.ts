import type { Severity } from '../diagnostics/code-entry.ts';
import { codes, type DiagnosticCode, diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import { placeOf, type SourceText, type Span } from './source-map.ts';

/** Another place that belongs to a problem, such as the first of two equal keys. */
interface OtherPlace {
  readonly span: Span;
  readonly detail: Prose;
}

/** Something wrong at one place of a file, before it has a line and a column. */
export interface Problem {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly detail: Prose;
  readonly pointer?: string;
  readonly severity?: Severity;
  readonly hint?: Prose;
  readonly label?: string;
  readonly subject?: Subject;
  readonly others?: readonly OtherPlace[];
}

const shownAtMost = 100;

/**
 * Problems as diagnostics, sorted by place. Several at one place explain one mistake, so one is kept: an error before a
 * warning, else the first that was given, so the caller lists the best explanation first. What a section lacks is a
 * mistake of its own and stands beside it. Of more than a hundred the rest is counted in a notice.
 */
export function diagnosticsOf(source: SourceText, problems: readonly Problem[]): readonly Diagnostic[] {
  const byPlace = new Map<string, Problem>();
  for (const problem of problems) {
    const { line, column, endLine, endColumn } = placeOf(source, problem.span);
    const matter = problem.code === 'schema/missing-key' ? 'absent' : 'present';
    const place = `${line}:${column}-${endLine}:${endColumn} ${matter}`;
    const other = byPlace.get(place);
    if (other === undefined || (severityOf(problem) === 'error' && severityOf(other) !== 'error')) {
      byPlace.set(place, problem);
    }
  }
  const kept = [...byPlace.values()].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  const shown = kept.slice(0, shownAtMost).map((problem) => diagnosticOf(source, problem));
  const next = kept[shownAtMost];
  if (next === undefined) return shown;
  const detail = `${kept.length - shownAtMost} more problems follow, the next one here.`;
  return [...shown, diagnose('yaml/more-problems', { detail, where: placeOf(source, next.span) })];
}

function diagnosticOf(source: SourceText, problem: Problem): Diagnostic {
  const { code, span, pointer, others, ...words } = problem;
  const related = (others ?? []).map((other) =>
    diagnose(code, { detail: other.detail, where: placeOf(source, other.span), severity: severityOf(problem) }),
  );
  return diagnose(code, { ...words, where: placeOf(source, span, pointer), related });
}

const severityOf = (problem: Problem): Severity => problem.severity ?? codes[problem.code].severity;

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** The start of a text, safe to show, between backticks. */
export const quoted = (text: string): string => `\`${escapeText(shorten(text))}\``;
