import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { isHandsWork } from '../../diagnostics/hands-work.ts';
import { diagnoseFleet } from '../../doctor/diagnose-fleet.ts';
import type { FleetObservation } from '../../doctor/fleet-observation.ts';
import { subjectNodes } from '../../doctor/subject.ts';
import { statusJson } from '../../report/status-json.ts';
import { statusText } from '../../report/status-text.ts';
import { showJson } from '../diagnostics-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { observeNodes } from '../observe-fleet.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { paintFor } from '../paint.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';
import { verdictOf } from './facts.ts';

/** The cures above are for real Macs; nobody needs a power button here. */
const mending = '\n  This rack is simulated: meshwright sim fault --clear mends what was broken.\n';

/** `status [NODE…]`: the rack in one table, and what is wrong with it. */
export const status: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const desired = cluster.fleet;
  const { isSimulated } = ways;
  const found = diagnoseFleet(desired, observation);
  const findings = isSimulated ? simulatedHints(found) : found;
  const { columns, hasUnicode, hasColor } = run.console;
  if (run.options.json) showJson(run.console, statusJson({ desired, observation, findings, isSimulated }));
  else {
    const paint = paintFor(hasColor);
    run.console.out(statusText({ desired, observation, findings, isSimulated, columns, unicode: hasUnicode, paint }));
    if (isSimulated && findings.length > 0) run.console.out(mending);
  }
  return codeForNodes(nodes.map((node) => nodeVerdict(node.name, observation, findings)));
};

function nodeVerdict(name: string, observation: FleetObservation, findings: readonly Diagnostic[]): NodeVerdict {
  const unseen = verdictOf(observation.failures[name] ?? []);
  if (unseen !== 'fine') return unseen;
  const about = findings.filter((one) => subjectNodes(one.subject ?? '').includes(name));
  const errors = about.filter((one) => one.severity === 'error');
  if (errors.some((one) => !isHandsWork(one.code))) return 'wrong';
  // What is unknown could not be judged, so nobody can say that the node is as the file says.
  if (about.some((one) => one.code === 'fact/unknown')) return 'unjudged';
  return errors.length > 0 ? 'hands' : 'fine';
}
