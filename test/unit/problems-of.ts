import { type Diagnostic, FleetError } from '../../src/diagnostics/diagnostic.ts';
import { type AsText, diagnosticsAsText } from './as-text.ts';

/** The problems that a call reports, with their texts as on screens; none if it succeeds. */
export function problemsOf(act: () => unknown): readonly AsText<Diagnostic>[] {
  try {
    act();
  } catch (error) {
    if (error instanceof FleetError) return diagnosticsAsText(error.diagnostics);
    throw error;
  }
  return [];
}
