import { journalFolder } from '../../apply/journal/journal.ts';
import { readJournals } from '../../apply/journal/read-journals.ts';
import type { CommandOutcome } from '../../apply/reach/run-command.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type Unreached, unreachedOf } from '../../engine/plan/unreached.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { historyCommand, parseHistory } from '../../node/history.ts';
import { type HistoryRun, historyText } from '../../report/run/history-text.ts';
import { unreachedField } from '../../report/unreached.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { journalName, stateFolder } from '../files/state-folder.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../terminal/diagnostics-output.ts';
import { gatherAlike } from '../terminal/gather-alike.ts';
import { pageFor } from '../terminal/paint.ts';
import { codeForNodes } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import { readCountOption } from '../verb/own-options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics, outcomeVerdict } from './ask-nodes.ts';
import { mergeHistory } from './merge-history.ts';

const usualRuns = 20;
const linesPerNode = 1_000;

/** How runs are named, by time; no node is called so. */
const runName = /^\d{8}T\d{6}-[0-9a-f]+$/;

/**
 * `history [NODE…|RUN…]`: what was done to the nodes, by whom: this controller's journals and what the nodes have kept;
 * of runs that are named every change.
 */
export const history: VerbBody = async (typed) => {
  const named = typed.words.filter((word) => runName.test(word));
  const run: Run = { ...typed, words: typed.words.filter((word) => !runName.test(word)) };
  const last = readCountOption(run, 'last') ?? usualRuns;
  const cluster = openCluster(run);
  const { name } = cluster.fleet;
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const { isSimulated } = ways;
  const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
    name: 'history',
    command: historyCommand(rootPrefix, linesPerNode),
  }));
  const kept = outcomes
    .filter(isAnswered)
    .map((outcome) => ({ node: outcome.node, entries: parseHistory(answerText(outcome)) }));
  const { runs: journals, problems } = readJournals(
    journalFolder(stateFolder(run.env), journalName(name, isSimulated)),
  );
  const runs = mergeHistory(journals, kept)
    .filter((one) => isAbout(one, run, nodes))
    .filter((one) => named.length === 0 || named.includes(one.run))
    .slice(0, named.length === 0 ? last : undefined);
  const lost = outcomes.filter((outcome) => !isAnswered(outcome)).map(({ node }) => node);
  const unreached = unreachedOf(lost, { failures: failuresOf(outcomes) });
  refuseUnknown(named, runs, lost);
  const said = outcomes.flatMap(outcomeDiagnostics);
  const diagnostics = [...problems, ...said];
  const seen = outcomes.length - lost.length;
  showHistory(run, { cluster: name, runs, seen, unreached, isWhole: named.length > 0, isSimulated, diagnostics });
  return codeForNodes(outcomes.map(outcomeVerdict));
};

const failuresOf = (outcomes: readonly CommandOutcome[]): Readonly<Record<string, readonly Diagnostic[]>> =>
  Object.fromEntries(outcomes.map((outcome) => [outcome.node, outcomeDiagnostics(outcome)]));

/** @throws FleetError `cli/usage` for a run that neither a journal nor a node has */
function refuseUnknown(named: readonly string[], runs: readonly HistoryRun[], lost: readonly string[]): void {
  const unknown = named.find((name) => !runs.some(({ run }) => run === name));
  if (unknown === undefined) return;
  const where =
    lost.length === 0 ? 'here or on the nodes' : `here or on the nodes that were seen; not reached: ${lost.join(', ')}`;
  throw usageError(`No run ${unknown} is recorded, ${where}.`, prose`See the runs: ${meshwright('history')}`);
}

/** Some nodes were asked for: then runs that touched none of them are not told. */
function isAbout({ steps }: HistoryRun, run: Run, nodes: readonly DesiredNode[]): boolean {
  const isChosen = run.words.length > 0 || run.options.nodes !== undefined || run.options.label !== undefined;
  return !isChosen || steps.some(({ node }) => nodes.some(({ name }) => name === node));
}

interface Shown {
  readonly cluster: string;
  readonly runs: readonly HistoryRun[];
  readonly seen: number;
  readonly unreached: Unreached;
  readonly isWhole: boolean;
  readonly isSimulated: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

function showHistory(run: Run, { diagnostics, ...shown }: Shown): void {
  const { cluster, runs, unreached, isSimulated } = shown;
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster,
      ...(isSimulated ? { simulated: true } : {}),
      // Of nodes that were not reached nobody can say that no run touched them.
      runs: runs.length === 0 && Object.keys(unreached).length > 0 ? null : runs.map(runJson),
      ...unreachedField(unreached),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  run.console.out(historyText({ ...shown, ...pageFor(run.console) }));
  showDiagnostics(run.console, gatherAlike(diagnostics));
}

const isoOf = (epochSeconds: number): string => new Date(epochSeconds * 1_000).toISOString();

const runJson = ({ run, atEpochSeconds, verb, by, steps, changes, ms, from, end, damaged }: HistoryRun): unknown => ({
  run,
  at: isoOf(atEpochSeconds),
  verb,
  by,
  from,
  ...(end === undefined ? {} : { ended: end !== 'open' }),
  ...(end === 'interrupted' ? { interrupted: true } : {}),
  ...(ms === undefined ? {} : { ms }),
  ...(damaged === undefined ? {} : { damaged }),
  ...(changes === undefined ? {} : { changes }),
  steps: steps.map((one) => ({ node: one.node, step: one.step, result: one.result, at: isoOf(one.atEpochSeconds) })),
});
