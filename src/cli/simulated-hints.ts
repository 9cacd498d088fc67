import type { Diagnostic } from '../diagnostics/diagnostic.ts';

/** A command of ours that reaches nodes, up to the end of its line or sentence. */
const reachingCommand = /\bmeshwright (?:enroll|facts|status|exec)\b[^\n.;]*/g;

/**
 * The same diagnostics with `--sim` behind every command that they say to type: a rehearsal must never send its user
 * to the real node.
 */
export function simulatedHints(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((one) => ({ ...one, hint: one.hint.replace(reachingCommand, (found) => `${found} --sim`) }));
}
