import { layoutsOf } from '../../desired/fallback.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { fleetFindings } from '../../engine/diagnose/stop-first.ts';
import { withoutConsequences } from '../../engine/diagnose/troubles.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { type ClientCounts, clientCounts } from '../../rack/endpoint/client-counts.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { placementFindings } from '../../rack/placement/check/placement-findings.ts';
import { type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { launchBudgets, type NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { judgedFleet, lockedFleet } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { logFindings } from '../terminal/diagnostics-output.ts';
import type { Run } from '../verb/verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';
import { withShutdowns } from './switched-off.ts';

/** One look at the nodes of a command line, with what is wrong there. */
export interface FoundLook {
  readonly desired: DesiredFleet;
  /** The same with what the lock adds, as plans are made from it. */
  readonly locked: DesiredFleet;
  /** The nodes that were asked for. */
  readonly names: readonly NodeName[];
  readonly observation: FleetObservation;
  readonly placements: readonly PlacementSurvey[];
  /** What came through the doors of published placements. */
  readonly clients: readonly ClientCounts[];
  /** What is wrong with Macs and cables, and then with placements; its hints are for simulated Macs where they are that. */
  readonly findings: readonly Diagnostic[];
  /** Whether anything is wrong with Macs and cables. */
  readonly isBroken: boolean;
  readonly budgets: readonly NodeBudget[];
  readonly isSimulated: boolean;
}

/** The Macs that have been seen so far, while tokens and silent Macs are waited for. */
export type SeenSoFar = Pick<FoundLook, 'desired' | 'observation'>;

/**
 * Observes the nodes that the words of a verb name, all without words, and judges what it sees.
 *
 * @param onSeen called after each Mac with all of those seen so far
 */
export async function lookForFindings(run: Run, onSeen?: (seen: SeenSoFar) => void): Promise<FoundLook> {
  const cluster = openCluster(run);
  const locked = lockedFleet(run, cluster);
  const desired = judgedFleet(run, cluster);
  const nodes = targetedNodes(run, desired, run.words);
  const names = nodes.map(({ name }) => name);
  const ways = openWays(run, cluster);
  const soFar = emptyObservation();
  const { isSimulated } = ways;
  const observed = await observeNodes(run, nodes, ways, {
    ...shownOnly(run),
    tokensOf: desired.placements.flatMap(layoutsOf),
    onSeen: (seen, failures) => {
      soFar.nodes[seen.node] = seen;
      if (failures.length > 0) soFar.failures[seen.node] = failures;
      onSeen?.({ desired, observation: soFar });
    },
  });
  const observation = withShutdowns(run, { cluster: desired.name, isSimulated }, observed);
  const view = viewOf({ desired: locked, observation, targets: names });
  const placements = surveyPlacements(view);
  const broken = fleetFindings(desired, observation);
  const found = withoutConsequences([...broken, ...placementFindings(view, placements)], placements);
  logFindings(run, found);
  return {
    desired,
    locked,
    names,
    observation,
    placements,
    clients: clientCounts(view, placements),
    findings: found,
    isBroken: broken.length > 0,
    budgets: launchBudgets(view),
    isSimulated,
  };
}

/** Without prototypes: `constructor` is a good name for a node. */
const emptyObservation = (): {
  readonly nodes: Record<string, FleetObservation['nodes'][string]>;
  readonly failures: Record<string, readonly Diagnostic[]>;
} => ({ nodes: Object.create(null), failures: Object.create(null) });
