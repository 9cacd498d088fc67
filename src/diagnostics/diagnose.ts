import type { Prose } from '../model/prose.ts';
import { codes, type DiagnosticCode } from './codes.ts';
import type { Diagnostic } from './diagnostic.ts';

/** What a caller adds to a code; summary, severity and hint come from the registry unless given. */
export type DiagnosticFields = { readonly detail: Prose } & Partial<
  Pick<Diagnostic, 'severity' | 'hint' | 'where' | 'label' | 'subject' | 'handsAt' | 'command' | 'related'>
>;

/** Builds a diagnostic from its code, so that summary and default hint stand in one place only. */
export function diagnose(code: DiagnosticCode, fields: DiagnosticFields): Diagnostic {
  const entry = codes[code];
  return { code, severity: entry.severity, summary: entry.summary, hint: entry.hint, related: [], ...fields };
}
