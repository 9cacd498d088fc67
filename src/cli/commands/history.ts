import { journalFolder } from '../../apply/journal.ts';
import { readJournals } from '../../apply/read-journals.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { type HistoryRun, historyText } from '../../report/history-text.ts';
import { historyCommand, parseHistory } from '../../script/history.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics, outcomeVerdict } from '../ask-nodes.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes } from '../exit-codes.ts';
import { gatherAlike } from '../gather-alike.ts';
import { mergeHistory } from '../merge-history.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { readCountOption } from '../own-options.ts';
import { paintFor } from '../paint.ts';
import { simulatedHints } from '../simulated-hints.ts';
import { journalName, stateFolder } from '../state-folder.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

const usualRuns = 20;
const linesPerNode = 1_000;

/** `history [NODE…]`: what was done to the nodes, by whom: this controller's journals and what the nodes have kept. */
export const history: VerbBody = async (run) => {
  const last = readCountOption(run, 'last') ?? usualRuns;
  const cluster = openCluster(run);
  const { name } = cluster.fleet;
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openWays(run, cluster);
  const { isSimulated } = ways;
  const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
    command: historyCommand(rootPrefix, linesPerNode),
  }));
  const kept = outcomes
    .filter(isAnswered)
    .map((outcome) => ({ node: outcome.node, entries: parseHistory(answerText(outcome)) }));
  const journals = readJournals(journalFolder(stateFolder(run.env), journalName(name, isSimulated)));
  const runs = mergeHistory(journals, kept)
    .filter((one) => isAbout(one, run, nodes))
    .slice(0, last);
  const said = outcomes.flatMap(outcomeDiagnostics);
  const diagnostics = isSimulated ? simulatedHints(said) : said;
  showHistory(run, { cluster: name, runs, isSimulated, diagnostics });
  return codeForNodes(outcomes.map(outcomeVerdict));
};

/** Some nodes were asked for: then runs that touched none of them are not told. */
function isAbout({ steps }: HistoryRun, run: Run, nodes: readonly DesiredNode[]): boolean {
  const isChosen = run.words.length > 0 || run.options.nodes !== undefined || run.options.label !== undefined;
  return !isChosen || steps.some(({ node }) => nodes.some(({ name }) => name === node));
}

interface Shown {
  readonly cluster: string;
  readonly runs: readonly HistoryRun[];
  readonly isSimulated: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

function showHistory(run: Run, { cluster, runs, isSimulated, diagnostics }: Shown): void {
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster,
      ...(isSimulated ? { simulated: true } : {}),
      runs: runs.map(runJson),
      diagnostics: diagnosticsJson(diagnostics),
    });
    return;
  }
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  run.console.out(historyText({ cluster, runs, isSimulated, columns, unicode, paint: paintFor(hasColor) }));
  showDiagnostics(run.console, gatherAlike(diagnostics));
}

const isoOf = (epochSeconds: number): string => new Date(epochSeconds * 1_000).toISOString();

const runJson = ({ run, atEpochSeconds, verb, by, steps, from, isEnded }: HistoryRun): unknown => ({
  run,
  at: isoOf(atEpochSeconds),
  verb,
  by,
  from,
  ...(isEnded === undefined ? {} : { ended: isEnded }),
  steps: steps.map((one) => ({ node: one.node, step: one.step, result: one.result, at: isoOf(one.atEpochSeconds) })),
});
