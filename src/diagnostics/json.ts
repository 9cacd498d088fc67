import { subjectText } from '../model/subject.ts';
import type { Severity } from './code-entry.ts';
import type { Diagnostic } from './diagnostic.ts';
import { proseText, type Reader } from './prose-text.ts';

/** A diagnostic as programs read it (`schemas/diagnostics.schema.json`). */
export interface DiagnosticJson {
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: { readonly file: string; readonly line: number; readonly column: number };
  readonly subject?: string;
  /** Other places that belong to it, such as the first of two equal links. Absent when there are none. */
  readonly related?: readonly DiagnosticJson[];
}

/** The JSON form of a diagnostic. Text is kept as it is: print it with `jsonText`, which escapes it. */
export function diagnosticJson(one: Diagnostic, reader: Reader): DiagnosticJson {
  const { where } = one;
  return {
    code: one.code,
    severity: one.severity,
    summary: one.summary,
    detail: proseText(one.detail, reader),
    hint: proseText(one.hint, reader),
    ...(where === undefined ? {} : { where: { file: where.file, line: where.line, column: where.column } }),
    ...(one.subject === undefined ? {} : { subject: subjectText(one.subject) }),
    ...(one.related.length === 0 ? {} : { related: one.related.map((other) => diagnosticJson(other, reader)) }),
  };
}
