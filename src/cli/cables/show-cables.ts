import type { CableWork } from '../../engine/cables/cable-work.ts';
import { cablesJson } from '../../report/cables/cables-json.ts';
import { cablesText } from '../../report/cables/cables-text.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { showJson } from '../terminal/diagnostics-output.ts';
import { pageFor } from '../terminal/paint.ts';
import type { Run } from '../verb/verb.ts';

/** One look at the cables of a rack. */
export interface ShownCables {
  readonly cluster: OpenedCluster;
  readonly work: CableWork;
  readonly isSimulated: boolean;
}

/** Writes the answer of `cables`: a page, or one JSON document. */
export function showCables(run: Run, { cluster, work, isSimulated }: ShownCables): void {
  const shown = { desired: cluster.fleet, work, isSimulated };
  if (run.options.json) {
    const diagnostics = [...cluster.warnings, ...work.loops, ...work.findings];
    showJson(run.console, cablesJson({ ...shown, diagnostics }));
    return;
  }
  run.console.out(cablesText({ ...shown, ...pageFor(run.console) }));
}
