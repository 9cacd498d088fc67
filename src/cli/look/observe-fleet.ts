import { randomBytes } from 'node:crypto';
import { type ObserveOptions, observeFleet } from '../../apply/reach/observe.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { Ways } from '../cluster/ways.ts';
import { showProgress } from '../terminal/progress.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** What of an observation differs from verb to verb. */
export type ObserveExtent = Pick<ObserveOptions, 'facts' | 'firstByteMs' | 'tokensOf' | 'onSeen'>;

/** How long a Mac may be silent at first for a verb that only shows, unless its deadline was raised. */
const silentMs = 4_000;
const usualDeadlineMs = 30_000;

/**
 * The bound of a connection for a verb that only shows: a Mac that is off is named after 4 s. A `--deadline` above the
 * usual one holds for connecting as well. Verbs that change a Mac have more patience with it.
 */
export const shownOnly = ({ options: { deadline } }: Run): Pick<ObserveExtent, 'firstByteMs'> =>
  deadline > usualDeadlineMs ? {} : { firstByteMs: silentMs };

/** Observes the given nodes, with progress on the error stream when it takes long. */
export async function observeNodes(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: Ways,
  extent: ObserveExtent = {},
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
      ...extent,
      newToken: () => randomBytes(16).toString('hex'),
      onNode: (node) => progress.done(node),
    });
  } finally {
    progress.stop();
  }
}
