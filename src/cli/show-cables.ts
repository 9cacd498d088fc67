import { cablesJson } from '../report/cables-json.ts';
import { cablesText } from '../report/cables-text.ts';
import type { CableWork } from '../resources/cable-work.ts';
import { showJson } from './diagnostics-output.ts';
import type { OpenedCluster } from './open-cluster.ts';
import { pageFor } from './paint.ts';
import type { Run } from './verb.ts';

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
