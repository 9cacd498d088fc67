import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { FleetObservation } from '../../doctor/fleet-observation.ts';
import { factsJson } from '../../facts/json.ts';
import { registry } from '../../facts/registry.ts';
import type { FactName } from '../../model/fact-values.ts';
import { factsText } from '../../report/facts-text.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { observeNodes } from '../observe-fleet.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

/** `facts [NODE…]`: every fact of every node, known or unknown. */
export const facts: VerbBody = async (run) => {
  const names = wantedFacts(run);
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const order = nodes.map((node) => node.name);
  const failures = order.flatMap((name) => observation.failures[name] ?? []);
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster: cluster.fleet.name,
      ...(ways.isSimulated ? { simulated: true } : {}),
      nodes: Object.fromEntries(order.map((name) => [name, nodeJson(observation, name, names)])),
      diagnostics: diagnosticsJson(failures),
    });
  } else {
    showDiagnostics(run.console, failures);
    const { columns, hasUnicode } = run.console;
    const seen = order.filter((name) => !isUnreached(observation, name));
    run.console.out(
      factsText({ observation, order: seen, names, isSimulated: ways.isSimulated, columns, unicode: hasUnicode }),
    );
  }
  return codeForNodes(order.map((name) => verdictOf(observation.failures[name] ?? [])));
};

const isUnreached = (observation: FleetObservation, name: string): boolean =>
  Object.values(observation.nodes[name]?.facts ?? {}).every(
    (fact) => fact.kind === 'unknown' && fact.reason === 'unreachable',
  );

function nodeJson(observation: FleetObservation, name: string, names: readonly FactName[]): Record<string, unknown> {
  const seen = observation.nodes[name];
  if (!seen) return {};
  const all: Readonly<Record<string, unknown>> = factsJson(seen.facts);
  return Object.fromEntries(names.map((fact) => [fact, all[fact]]));
}

function wantedFacts(run: Run): readonly FactName[] {
  const every = Object.keys(registry) as readonly FactName[];
  const asked = run.own['fact'];
  if (typeof asked !== 'string') return every;
  const words = asked.split(',').map((word) => word.trim());
  const strange = words.filter((word) => !every.some((name) => name === word));
  if (strange.length > 0) throw usageError(`There is no fact "${strange.join('", "')}".`, `Facts: ${every.join(', ')}`);
  return every.filter((name) => words.includes(name));
}

/** A node that was not observed is unjudged; one that only waits for its FileVault password needs hands. */
export function verdictOf(failures: readonly Diagnostic[]): NodeVerdict {
  if (failures.length === 0) return 'fine';
  return failures.every((one) => one.code === 'ssh/locked-at-filevault') ? 'hands' : 'unjudged';
}
