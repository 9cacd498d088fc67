import type { FileFinding, FindingPlace } from '../desired/rules/rule.ts';
import type { Severity } from '../diagnostics/code-entry.ts';
import { codes, diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { Prose } from '../model/text/prose.ts';
import { placeOf, type SourceText, type Span } from './source-map.ts';

/** A problem at one position in a file, before its line and column are computed. */
export interface Problem extends Omit<FileFinding, keyof FindingPlace | 'detail' | 'others'> {
  readonly span: Span;
  readonly detail: Prose;
  readonly pointer?: string;
  /** Related positions, for example the first of two equal keys. */
  readonly others?: readonly { readonly span: Span; readonly detail: Prose }[];
}

const shownAtMost = 100;

/**
 * Converts problems to diagnostics, sorted by position. Several problems at one position are usually one mistake, so
 * only one is kept: an error rather than a warning, otherwise the first. Callers therefore list the best explanation
 * first. Missing keys are always kept. A notice reports the number of problems beyond 100.
 */
export function diagnosticsOf(source: SourceText, problems: readonly Problem[]): readonly Diagnostic[] {
  const byPlace = new Map<string, Problem>();
  for (const problem of problems) {
    const { line, column, endLine, endColumn } = placeOf(source, problem.span);
    const matter = hasTrait(codes[problem.code], 'missing-key') ? 'absent' : 'present';
    const place = `${line}:${column}-${endLine}:${endColumn} ${matter}`;
    const other = byPlace.get(place);
    if (other === undefined || (severityOf(problem) === 'error' && severityOf(other) !== 'error')) {
      byPlace.set(place, problem);
    }
  }
  const unique = [...byPlace.values()].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  const shown = unique.slice(0, shownAtMost).map((problem) => diagnosticOf(source, problem));
  const next = unique[shownAtMost];
  if (next === undefined) return shown;
  const detail = `${unique.length - shownAtMost} more problems follow. The next one is here.`;
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

/** Quotes a text's escaped start in backticks: at most 60 characters. */
export const quoted = (text: string): string => `\`${escapeText(shorten(text))}\``;
