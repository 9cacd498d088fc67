import { statusJson } from '../../report/status-json.ts';
import { statusText } from '../../report/status-text.ts';
import { launchBudgets } from '../../resources/launch-budgets.ts';
import { placementFindings } from '../../resources/placement-findings.ts';
import { surveyPlacements } from '../../resources/placement-survey.ts';
import { fleetFindings } from '../../resources/stop-first.ts';
import { viewOf } from '../../resources/view.ts';
import { showJson } from '../diagnostics-output.ts';
import { codeForNodes } from '../exit-codes.ts';
import { nodeVerdict } from '../node-verdict.ts';
import { observeNodes } from '../observe-fleet.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { paintFor } from '../paint.ts';
import { lockedFleet } from '../settle-cluster.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

/** The cures of what is broken are for real Macs; nobody needs a power button here. */
const mending = '\n  This rack is simulated: meshwright sim fault --clear mends what was broken.\n';

/** `status [NODE…]`: placements and Macs in one table each, and what is wrong with them. */
export const status: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const desired = cluster.fleet;
  const { isSimulated } = ways;
  const view = viewOf({ desired: lockedFleet(run, cluster), observation, targets: nodes.map(({ name }) => name) });
  const placements = surveyPlacements(view);
  const broken = fleetFindings(desired, observation);
  const found = [...broken, ...placementFindings(view, placements)];
  const findings = isSimulated ? simulatedHints(found) : found;
  const shown = { desired, observation, findings, placements, budgets: launchBudgets(view), isSimulated };
  const { columns, hasUnicode, hasColor } = run.console;
  if (run.options.json) showJson(run.console, statusJson(shown));
  else {
    const paint = paintFor(hasColor);
    run.console.out(statusText({ ...shown, columns, unicode: hasUnicode, paint }));
    if (isSimulated && broken.length > 0) run.console.out(mending);
  }
  return codeForNodes(nodes.map((node) => nodeVerdict(node.name, shown)));
};
