import { randomBytes } from 'node:crypto';
import { observeFleet } from '../apply/observe.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredNode } from '../model/desired.ts';
import type { FactName } from '../model/fact-values.ts';
import { showProgress } from './progress.ts';
import { useLimits } from './use-limits.ts';
import type { Run } from './verb.ts';
import type { Ways } from './ways.ts';

/**
 * Observes the given nodes, with progress on the error stream when it takes long.
 *
 * @param facts only these, without asking any endpoint for a token; every fact where absent
 */
export async function observeNodes(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: Ways,
  facts?: readonly FactName[],
): Promise<FleetObservation> {
  const progress = showProgress(
    run.console,
    'observing',
    nodes.map((node) => node.name),
  );
  try {
    return await observeFleet(await ways.toAll(nodes), {
      ...useLimits(run),
      parallel: run.options.parallel,
      ...(facts === undefined ? {} : { facts }),
      newToken: () => randomBytes(16).toString('hex'),
      onNode: (node) => progress.done(node),
    });
  } finally {
    progress.stop();
  }
}
