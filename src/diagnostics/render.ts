import { subjectText } from '../model/subject.ts';
import { wrap } from './cells.ts';
import type { Diagnostic } from './diagnostic.ts';
import { escapeText } from './escape.ts';
import { drawExcerpt } from './excerpt.ts';
import { hideSecrets } from './hide-secrets.ts';
import { type Paint, paintWith, severityStyle } from './paint.ts';
import { proseText, type Reader } from './prose-text.ts';

/** How diagnostics are drawn as text. */
export interface RenderOptions extends Reader {
  /** Text of each file that a diagnostic may point into, by the name that its `where` has. */
  readonly sources: ReadonlyMap<string, string>;
  /** Width of the page; at least 40 is used. */
  readonly columns: number;
  readonly color: boolean;
}

/**
 * Diagnostics as a person reads them: place, severity and code; what is wrong; the source line with the place
 * underlined; why; and what to do. Everything that is shown is escaped. Ends with a line break; empty for none.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: RenderOptions): string {
  const paint = paintWith(options.color);
  const { isSimulated } = options;
  const linesByFile = new Map<string, readonly string[]>();
  const linesOf = (file: string): readonly string[] => {
    const lines = linesByFile.get(file) ?? sourceLines(options.sources.get(file));
    linesByFile.set(file, lines);
    return lines;
  };
  const blocks = diagnostics.map((one) =>
    renderOne(one, { linesOf, columns: Math.max(40, options.columns), paint, isSimulated }),
  );
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`;
}

/** The place in `docs/errors.md` where a code is explained. */
export const docsAnchor = (code: Diagnostic['code']): string => `docs/errors.md#${code.replace('/', '-')}`;

interface Page extends Reader {
  readonly linesOf: (file: string) => readonly string[];
  readonly columns: number;
  readonly paint: Paint;
}

function renderOne(one: Diagnostic, page: Page): string {
  const style = severityStyle[one.severity];
  const { where } = one;
  const excerpt =
    where === undefined
      ? []
      : drawExcerpt(one, { lines: page.linesOf(where.file), columns: page.columns, paint: page.paint, style });
  return [
    headline(one, page.paint),
    ...indented(one.summary, '  ', page.columns),
    ...excerpt,
    ...indented(proseText(one.detail, page), '  ', page.columns),
    ...indented(proseText(one.hint, page), '  hint: ', page.columns),
  ].join('\n');
}

function headline(one: Diagnostic, paint: Paint): string {
  const { where, subject } = one;
  const place = where === undefined ? subject && subjectText(subject) : `${where.file}:${where.line}:${where.column}`;
  const words = [paint(severityStyle[one.severity], one.severity), one.code];
  return place === undefined ? words.join('  ') : [paint('bold', escapeText(place)), ...words].join('  ');
}

/** Paragraphs under a first indent; later lines stand under the text, not under the word before it. */
function indented(text: string, first: string, columns: number): readonly string[] {
  const rest = ' '.repeat(first.length);
  return text
    .split('\n')
    .flatMap((line) => wrap(escapeText(line), columns - first.length))
    .map((line, index) => `${index === 0 ? first : rest}${line}`.trimEnd());
}

function sourceLines(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  return hideSecrets(text.replace(/^\ufeff/, '').split(/\r?\n/)).lines;
}
