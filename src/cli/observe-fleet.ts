import { randomBytes } from 'node:crypto';
import { observeFleet } from '../apply/observe.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredNode } from '../model/desired.ts';
import { showProgress } from './progress.ts';
import type { Run } from './verb.ts';
import type { Ways } from './ways.ts';

/** Observes the given nodes with progress on the error stream, and `-v` lines when asked for. */
export async function observeNodes(run: Run, nodes: readonly DesiredNode[], ways: Ways): Promise<FleetObservation> {
  const progress = showProgress(
    run.console,
    'observing',
    nodes.map((node) => node.name),
  );
  try {
    return await observeFleet(await ways.toAll(nodes), {
      parallel: run.options.parallel,
      deadlineMs: run.options.deadline,
      newToken: () => randomBytes(16).toString('hex'),
      signal: run.signal,
      onNode: (node) => progress.done(node),
      ...(run.options.verbose
        ? { onCommand: (node, command) => run.console.err(`${node}: sends ${command.length} bytes\n`) }
        : {}),
    });
  } finally {
    progress.stop();
  }
}
