import { randomBytes } from 'node:crypto';
import { observeFleet } from '../apply/observe.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredNode } from '../model/desired.ts';
import { showProgress } from './progress.ts';
import { useLimits } from './use-limits.ts';
import type { Run } from './verb.ts';
import type { Ways } from './ways.ts';

/** Observes the given nodes, with progress on the error stream when it takes long. */
export async function observeNodes(run: Run, nodes: readonly DesiredNode[], ways: Ways): Promise<FleetObservation> {
  const progress = showProgress(
    run.console,
    'observing',
    nodes.map((node) => node.name),
  );
  try {
    return await observeFleet(await ways.toAll(nodes), {
      ...useLimits(run),
      parallel: run.options.parallel,
      newToken: () => randomBytes(16).toString('hex'),
      onNode: (node) => progress.done(node),
    });
  } finally {
    progress.stop();
  }
}
