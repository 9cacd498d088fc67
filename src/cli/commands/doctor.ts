import { type Recovery, recoveryOf } from '../../doctor/recovery.ts';
import { troublesOf } from '../../doctor/troubles.ts';
import { doctorJson } from '../../report/doctor-json.ts';
import { doctorText } from '../../report/doctor-text.ts';
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
import { simulatedHints, simulatedText } from '../simulated-hints.ts';
import type { VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

/** `doctor [NODE…]`: one cause, one action and the evidence for each broken thing, in the order of the walk. */
export const doctor: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const desired = cluster.fleet;
  const { isSimulated } = ways;
  const view = viewOf({ desired: lockedFleet(run, cluster), observation, targets: nodes.map(({ name }) => name) });
  const placements = surveyPlacements(view);
  const found = [...fleetFindings(desired, observation), ...placementFindings(view, placements)];
  const findings = isSimulated ? simulatedHints(found) : found;
  const troubles = troublesOf({ desired, observation, findings, placements });
  const list = recoveryOf(troubles);
  const recovery = list === undefined ? {} : { recovery: isSimulated ? simulatedList(list) : list };
  const shown = { desired, observation, troubles, ...recovery, budgets: launchBudgets(view), isSimulated };
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  if (run.options.json) showJson(run.console, doctorJson(shown));
  else run.console.out(doctorText({ ...shown, columns, unicode, paint: paintFor(hasColor) }));
  return codeForNodes(nodes.map(({ name }) => nodeVerdict(name, { observation, findings, placements })));
};

const simulatedList = ({ nodes, steps }: Recovery): Recovery => ({ nodes, steps: steps.map(simulatedText) });
