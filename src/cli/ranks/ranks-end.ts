import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { Console } from '../terminal/console.ts';
import { showDiagnostics } from '../terminal/diagnostics-output.ts';

/** How the ranks of one's own program came out; a bug is kept until what was stopped for them runs again. */
export type RanksEnd =
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'bug'; readonly error: unknown };

/** The status where nobody knows, as ssh has it. */
const unknownStatus = 255;

/** Runs ranks and never rejects: a problem is shown, and its status, as that of ranks whose lease was lost, is 255. */
export async function endOfRanks(
  console: Console,
  lost: AbortSignal,
  ranks: (ending: AbortSignal) => Promise<number>,
): Promise<RanksEnd> {
  try {
    const status = await ranks(lost);
    if (!lost.aborted) return { kind: 'ended', status };
    console.err('launch: another run took the lease of a Mac; the ranks are ended\n');
    return { kind: 'ended', status: unknownStatus };
  } catch (error) {
    if (!(error instanceof FleetError)) return { kind: 'bug', error };
    showDiagnostics(console, error.diagnostics);
    return { kind: 'ended', status: unknownStatus };
  }
}
