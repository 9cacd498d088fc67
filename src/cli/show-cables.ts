import { cablesJson } from '../report/cables-json.ts';
import { cablesText } from '../report/cables-text.ts';
import type { CableWork } from '../resources/cable-work.ts';
import { showJson } from './diagnostics-output.ts';
import type { OpenedCluster } from './open-cluster.ts';
import { paintFor } from './paint.ts';
import { simulatedHints } from './simulated-hints.ts';
import type { Run } from './verb.ts';

/** One look at the cables of a rack. */
export interface ShownCables {
  readonly cluster: OpenedCluster;
  readonly work: CableWork;
  readonly isSimulated: boolean;
}

/** Writes the answer of `cables`: a page, or one JSON document. */
export function showCables(run: Run, { cluster, work, isSimulated }: ShownCables): void {
  const told = (isSimulated ? simulatedHints : <T>(all: T) => all)(work.findings);
  const shown = { desired: cluster.fleet, work: { ...work, findings: told }, isSimulated };
  if (run.options.json) {
    const diagnostics = [...cluster.warnings, ...work.loops, ...told];
    showJson(run.console, cablesJson({ ...shown, diagnostics }));
    return;
  }
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  run.console.out(cablesText({ ...shown, columns, unicode, paint: paintFor(hasColor) }));
}
