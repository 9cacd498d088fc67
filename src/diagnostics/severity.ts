import type { Severity } from './code-entry.ts';
import type { Diagnostic } from './diagnostic.ts';

const order: readonly Severity[] = ['error', 'warning', 'notice'];

/** Whether something is wrong enough to stop. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((one) => one.severity === 'error');

/** `2 errors, 1 warning`: how many there are of each severity; `no problems` for none. */
export function countText(diagnostics: readonly Pick<Diagnostic, 'severity'>[]): string {
  const parts = order.flatMap((severity) => {
    const count = diagnostics.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`];
  });
  return parts.length === 0 ? 'no problems' : parts.join(', ');
}
