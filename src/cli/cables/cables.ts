import { cableFacts, cableWork } from '../../engine/cables/cable-work.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { type OpenedCluster, openCluster } from '../cluster/open-cluster.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { observeNodes, shownOnly } from '../look/observe-fleet.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { codeForCables } from './cable-verdicts.ts';
import { guideHands } from './guide-cables.ts';
import { identifyPlugs } from './identify-plugs.ts';
import { showCables } from './show-cables.ts';

/** `cables`: every cable that is declared or seen, and what hands have to do about them; live with its options. */
export const cables: VerbBody = async (run) => {
  const isWatch = run.own['watch'] === true;
  const isIdentify = run.own['identify'] === true;
  if (isWatch && isIdentify) throw usageError('--watch and --identify are two ways to look.', 'Leave one out.');
  if (isIdentify && run.options.json === true) {
    throw usageError('--identify has no end, and --json is one document.', 'Leave one of the two out.');
  }
  const cluster = openCluster(run);
  const ways = openWays(run, cluster);
  if (isWatch) return guideHands(run, cluster, ways);
  if (isIdentify) return identifyPlugs(run, cluster, ways);
  const observation = await lookAtCables(run, cluster, ways);
  const work = cableWork(cluster.fleet, observation);
  showCables(run, { cluster, work, isSimulated: ways.isSimulated });
  return codeForCables(cluster.fleet, observation, work);
};

const lookAtCables = (run: Run, { fleet }: OpenedCluster, ways: Ways): Promise<FleetObservation> =>
  observeNodes(run, fleet.nodes, ways, { ...shownOnly(run), facts: cableFacts });
