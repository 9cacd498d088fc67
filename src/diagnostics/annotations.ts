import type { Diagnostic } from './diagnostic.ts';
import { escapeText } from './escape.ts';
import { proseText, type Reader } from './prose-text.ts';

/** A value in a workflow command. @see https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const lines = (text: string): string => text.split('\n').map(escapeText).join('\n');

/**
 * Workflow commands that mark the places of diagnostics in the files of a pull request on GitHub, one per line.
 * Diagnostics without a place are left out.
 * @param pathOf the path in the repository of a file that a diagnostic names
 */
export function annotationsText(
  diagnostics: readonly Diagnostic[],
  pathOf: (file: string) => string,
  reader: Reader,
): string {
  return diagnostics
    .flatMap(({ severity, code, where, summary, detail, hint }) => {
      if (where === undefined) return [];
      const place = `file=${property(escapeText(pathOf(where.file)))},line=${where.line},col=${where.column}`;
      const text = [summary, proseText(detail, reader), proseText(hint, reader)].map(lines).join('\n');
      return [`::${severity} ${place},title=${property(code)}::${data(text)}\n`];
    })
    .join('');
}
