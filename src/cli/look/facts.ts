import { guess } from '../../desired/did-you-mean.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type FactName, factsJson, registry } from '../../engine/observe/facts.ts';
import type { FactsDocument, FactsNode } from '../../model/documents.generated.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { factsText } from '../../report/facts-text.ts';
import { gatherAlike } from '../../report/findings.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { codeForNodes, verdictOf } from '../exit-codes.ts';
import { type Console, diagnosticsJson, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

interface Seen {
  readonly observation: FleetObservation;
  readonly order: readonly NodeName[];
  readonly names: readonly FactName[];
  readonly isSimulated: boolean;
}

/** `facts [NODE…]`: every fact of every node, known or unknown. */
export const facts: VerbBody = async (run) => {
  const names = wantedFacts(run);
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const observation = await observeNodes(run, nodes, openWays(run, cluster), shownOnly(run));
  const { isSimulated } = run.console;
  const order = nodes.map((node) => node.name);
  const failures = order.flatMap((name) => observation.failures[name] ?? []);
  const seen = { observation, order, names, isSimulated };
  if (run.options.json) {
    showJson(run.console, factsDocument(seen, cluster.fleet.name, [...cluster.warnings, ...failures]));
  } else {
    run.console.out(order.map((name) => nodeText(run.console, seen, name)).join('\n'));
    if (failures.length > 0) run.console.err('\n');
    showDiagnostics(run.console, gatherAlike(failures));
  }
  return codeForNodes(order.map((name) => verdictOf(observation.failures[name] ?? [])));
};

function factsDocument(seen: Seen, cluster: string, diagnostics: readonly Diagnostic[]): FactsDocument {
  const { order, isSimulated } = seen;
  return {
    formatVersion: 1,
    cluster,
    ...(isSimulated ? { simulated: true } : {}),
    nodes: Object.fromEntries(order.map((name) => [name, nodeJson(seen, name)])),
    diagnostics: diagnosticsJson({ isSimulated }, diagnostics),
  };
}

function nodeText(console: Console, seen: Seen, name: NodeName): string {
  const page = pageFor(console);
  const { columns, paint, isSimulated } = page;
  const { observation, names } = seen;
  if (!isUnreached(observation, name)) return factsText({ observation, order: [name], names, ...page });
  const mark = isSimulated ? 'simulated' : '';
  const head = `${paint('strong', name)}${mark.padStart(Math.max(mark.length + 3, columns - name.length))}`;
  const summary = observation.failures[name]?.[0]?.summary ?? 'The node was not observed.';
  return `${head.trimEnd()}\n  ${paint('bad', 'not observed')}: ${summary}\n`;
}

const isUnreached = (observation: FleetObservation, name: string): boolean =>
  Object.values(observation.nodes[name]?.facts ?? {}).every(
    (fact) => fact.kind === 'unknown' && fact.reason === 'unreachable',
  );

function nodeJson({ observation, names }: Seen, name: string): FactsNode {
  const seen = observation.nodes[name];
  return seen === undefined ? {} : factsJson(seen.facts, names);
}

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
