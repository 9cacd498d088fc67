import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { jsonText } from '../../diagnostics/escape.ts';
import { diagnosticJson } from '../../diagnostics/json.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';
import { renderDiagnostics } from '../../diagnostics/render.ts';
import type { RunLog } from '../files/run-log.ts';
import { asciiJson } from './ascii.ts';
import type { Console } from './console.ts';

/** Writes diagnostics for people to the error stream; `sources` are file texts by file name, for the underlined line. */
export function showDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>> = {},
): void {
  if (diagnostics.length === 0) return;
  const { columns, hasErrColor: color, isSimulated } = console;
  const options = { sources: new Map(Object.entries(sources)), columns, color, isSimulated };
  console.err(renderDiagnostics(diagnostics, options));
}

/** Writes what a verb reports as wrong into its log, if it has one. */
export function logFindings({ log }: { readonly log?: RunLog | undefined }, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) log?.write({ kind: 'finding', diagnostic });
}

/** Writes diagnostics where they are the answer itself, as those of a judged file are. */
export function answerDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>>,
): void {
  if (diagnostics.length === 0) return;
  const { columns, hasColor: color, isSimulated } = console;
  const options = { sources: new Map(Object.entries(sources)), columns, color, isSimulated };
  console.out(renderDiagnostics(diagnostics, options));
}

/** Writes one JSON document, two blanks deep, with a line end; what a terminal would obey is escaped. */
export function showJson(console: Console, value: unknown): void {
  showJsonText(console, `${jsonText(value)}\n`);
}

/** Writes a text that is JSON already. */
export function showJsonText(console: Console, text: string): void {
  console.out(console.hasUnicode ? text : asciiJson(text));
}

/** Diagnostics as they stand in every JSON answer. */
export const diagnosticsJson = (reader: Reader, diagnostics: readonly Diagnostic[]): readonly unknown[] =>
  diagnostics.map((one) => diagnosticJson(one, reader));
