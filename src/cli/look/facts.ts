import { guess } from '../../desired/did-you-mean.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { type FactName, factsJson, registry } from '../../engine/observe/facts.ts';
import type { NodeName } from '../../model/node.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import { factsText } from '../../report/facts-text.ts';
import { gatherAlike } from '../../report/findings.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes, verdictOf } from '../exit-codes.ts';
import { diagnosticsJson, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

export const facts: VerbBody = async (run) => {
  const names = wantedFacts(run);
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const modelsOn = (node: NodeName) => soughtOn(cluster.fleet, node);
  const observation = await observeNodes(run, nodes, openTargets(run, cluster), { ...shownOnly(run), modelsOn });
  const order = nodes.map((node) => node.name);
  const failures = order.flatMap((name) => observation.failures[name] ?? []);
  if (run.options.json) {
    showJson(run.console, {
      ...documentHead(run.console, { cluster: cluster.fleet.name }),
      nodes: Object.fromEntries(order.map((name) => [name, factsJson(observation.nodes[name]?.facts ?? {}, names)])),
      diagnostics: diagnosticsJson(run.console, [...cluster.warnings, ...failures]),
    });
  } else {
    run.console.out(factsText({ observation, order, names }, pageFor(run.console)));
    if (failures.length > 0) run.console.err('\n');
    showDiagnostics(run.console, gatherAlike(failures));
  }
  return codeForNodes(order.map((name) => verdictOf(observation.failures[name] ?? [])));
};

function wantedFacts(run: Run): readonly FactName[] {
  const every = Object.keys(registry) as readonly FactName[];
  const asked = run.own['fact'];
  if (typeof asked !== 'string') return every;
  const words = asked.split(',').map((word) => word.trim());
  const strange = words.find((word) => !every.some((name) => name === word));
  if (strange !== undefined)
    throw usageError(`Unknown fact ${JSON.stringify(strange)}.`, `${guess(strange, every)}Facts: ${every.join(', ')}`);
  return every.filter((name) => words.includes(name));
}
