import type { Prose } from '../model/text/prose.ts';
import type { Code } from './code-entry.ts';
import { codes, type DiagnosticCode } from './codes.ts';
import type { Diagnostic } from './diagnostic.ts';

/** What a caller adds to a code; summary, severity and hint come from its definition unless given. */
export type DiagnosticFields = { readonly detail: Prose } & Partial<
  Pick<Diagnostic, 'severity' | 'hint' | 'where' | 'label' | 'subject' | 'handsAt' | 'command' | 'related'>
>;

/** Builds a diagnostic from its code, so that summary and default hint stand in one place only. */
export function diagnose(code: DiagnosticCode | Code, fields: DiagnosticFields): Diagnostic {
  const entry: Code = typeof code === 'string' ? { code, ...codes[code] } : code;
  const { severity, summary, hint, hands } = entry;
  return { code: entry.code, severity, summary, hint, related: [], ...(hands && { hands }), ...fields };
}
