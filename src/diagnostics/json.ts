import type { DiagnosticsDocument } from '../model/documents.generated.ts';
import { subjectText } from '../model/subject.ts';
import type { Diagnostic } from './diagnostic.ts';
import { proseText, type Reader } from './prose-text.ts';

/** A document's first fields: the format, the cluster if there is one, and a mark if the Macs are simulated. */
export const documentHead = <Fields extends { readonly cluster?: string }>(
  { isSimulated }: Reader,
  fields: Fields = {} as Fields,
) => ({ formatVersion: 1 as const, ...fields, ...(isSimulated ? { simulated: true as const } : {}) });

/** A diagnostic for JSON documents. Its text is not escaped: print it with `jsonText`. */
export function diagnosticJson(one: Diagnostic, reader: Reader): DiagnosticsDocument['diagnostics'][number] {
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
