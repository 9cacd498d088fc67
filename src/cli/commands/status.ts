import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { isHandsWork } from '../../diagnostics/hands-work.ts';
import { diagnoseFleet } from '../../doctor/diagnose-fleet.ts';
import type { FleetObservation } from '../../doctor/fleet-observation.ts';
import { subjectNodes } from '../../doctor/subject.ts';
import type { NodeName } from '../../model/node.ts';
import { statusJson } from '../../report/status-json.ts';
import { statusText } from '../../report/status-text.ts';
import { placementFindings } from '../../resources/placement-findings.ts';
import { type PlacementSurvey, surveyPlacements } from '../../resources/placement-survey.ts';
import { viewOf } from '../../resources/view.ts';
import { showJson } from '../diagnostics-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { observeNodes } from '../observe-fleet.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { paintFor } from '../paint.ts';
import { lockedFleet } from '../settle-cluster.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';
import { verdictOf } from './facts.ts';

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
  const broken = diagnoseFleet(desired, observation);
  const found = [...broken, ...placementFindings(view, placements)];
  const findings = isSimulated ? simulatedHints(found) : found;
  const shown = { desired, observation, findings, placements, isSimulated };
  const { columns, hasUnicode, hasColor } = run.console;
  if (run.options.json) showJson(run.console, statusJson(shown));
  else {
    const paint = paintFor(hasColor);
    run.console.out(statusText({ ...shown, columns, unicode: hasUnicode, paint }));
    if (isSimulated && broken.length > 0) run.console.out(mending);
  }
  return codeForNodes(nodes.map((node) => nodeVerdict(node.name, shown)));
};

interface Judged {
  readonly observation: FleetObservation;
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly PlacementSurvey[];
}

function nodeVerdict(name: NodeName, { observation, findings, placements }: Judged): NodeVerdict {
  const unseen = verdictOf(observation.failures[name] ?? []);
  if (unseen !== 'fine') return unseen;
  const about = findings.filter((one) => subjectNodes(one.subject ?? '').includes(name));
  const errors = about.filter((one) => one.severity === 'error');
  const own = placements.filter((one) => one.nodes.includes(name));
  // A placement that is not as the file says is wrong on every member, wherever its fault lies.
  if (own.some(({ standing }) => standing === 'differs')) return 'wrong';
  if (errors.some((one) => !isHandsWork(one.code))) return 'wrong';
  // What is unknown could not be judged, so nobody can say that the node is as the file says.
  if (about.some((one) => one.code === 'fact/unknown')) return 'unjudged';
  if (own.some((one) => one.standing === 'unknown' && !hasUnseen(one, observation))) return 'unjudged';
  return errors.length > 0 ? 'hands' : 'fine';
}

/** What nobody knows of a placement because a node was not seen counts for that node, which is not fine itself. */
const hasUnseen = ({ nodes }: PlacementSurvey, { failures }: FleetObservation): boolean =>
  nodes.some((node) => (failures[node]?.length ?? 0) > 0);
