import { type CommandOutcome, runCommand } from '../../apply/run-command.ts';
import { selectNodes } from '../../desired/select.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import { quote } from '../../script/quote.ts';
import type { Console } from '../console.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { gatherAlike } from '../gather-alike.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { showProgress } from '../progress.ts';
import { shownWord } from '../shown-word.ts';
import { simulatedHints } from '../simulated-hints.ts';
import { namedTargets } from '../targets.ts';
import { useLimits } from '../use-limits.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

const maxOutputBytes = 16 * 1024 * 1024;

/** `exec NODE… -- WORD…`: one command on nodes, its words unchanged, its output behind the node's name. */
export const exec: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const command = wantedCommand(run, cluster.fleet);
  const nodes = targetedNodes(run, cluster.fleet, namedTargets(run, cluster.fleet));
  const ways = openWays(run, cluster);
  const requests = await ways.toAll(nodes);
  const progress = showProgress(
    run.console,
    'running',
    nodes.map((node) => node.name),
  );
  const outcomes = await runCommand(requests, command, {
    ...useLimits(run),
    parallel: run.options.parallel,
    maxBytes: maxOutputBytes,
    onOutcome: (outcome) => progress.done(outcome.node),
  }).finally(() => progress.stop());
  const told = ways.isSimulated ? outcomes.map(withSimulatedHints) : outcomes;
  if (run.options.json) showJson(run.console, execJson(told, ways.isSimulated));
  else showOutcomes(run.console, told, ways.isSimulated);
  return codeForNodes(outcomes.map(verdictOf));
};

/** The words behind `--` as one command line. @throws FleetError `cli/usage` that says where the command begins. */
function wantedCommand(run: Run, fleet: DesiredFleet): string {
  if (run.tail !== undefined && run.tail.length > 0) return run.tail.map(quote).join(' ');
  const isNode = (word: string): boolean => selectNodes(fleet, { names: [word], labels: [] }).nodes.length > 0;
  const first = run.words.findIndex((word) => !isNode(word));
  const targets = run.words.slice(0, Math.max(first, 0)).join(' ') || '--all';
  const command = first < 0 ? 'sw_vers' : run.words.slice(first).map(shownWord).join(' ');
  const sim = run.options.sim ? '--sim ' : '';
  throw usageError(
    'The command is missing.',
    `Put it behind two dashes:\n  meshwright exec ${sim}${targets} -- ${command}`,
  );
}

const withSimulatedHints = (outcome: CommandOutcome): CommandOutcome => {
  if (outcome.kind === 'ended') return outcome;
  return { ...outcome, diagnostics: simulatedHints(outcome.diagnostics) };
};

function verdictOf(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return 'unjudged';
  return isSuccess(outcome.result.exit) && !outcome.result.isTruncated ? 'fine' : 'wrong';
}

const decoder = new TextDecoder();

function showOutcomes(console: Console, outcomes: readonly CommandOutcome[], isSimulated: boolean): void {
  const width = Math.max(0, ...outcomes.map(({ node }) => node.length));
  for (const outcome of outcomes) {
    if (outcome.kind === 'unreached') continue;
    const { result, node } = outcome;
    const name = `${isSimulated ? 'simulated ' : ''}${node.padEnd(width)}`;
    const notes = [
      ...(result.isTruncated ? [`cut after ${maxOutputBytes / 1024 / 1024} MiB; the command was ended`] : []),
      ...(isSuccess(result.exit) ? [] : [exitText(result.exit)]),
    ];
    console.out(prefixed(`${name} | `, linesOf(result.stdout)));
    console.err(prefixed(`${name} ! `, [...linesOf(result.stderr), ...notes]));
  }
  const unreached = outcomes.flatMap((outcome) => (outcome.kind === 'unreached' ? outcome.diagnostics : []));
  showDiagnostics(console, gatherAlike(unreached));
}

const prefixed = (prefix: string, lines: readonly string[]): string =>
  lines.map((line) => `${prefix}${line}\n`).join('');

function linesOf(bytes: Uint8Array): readonly string[] {
  const lines = decoder.decode(bytes).split('\n');
  if (lines.at(-1) === '') lines.pop();
  // A tab is layout that a terminal may obey; everything else it would obey is shown instead.
  return lines.map((line) => line.split('\t').map(escapeText).join('\t'));
}

function execJson(outcomes: readonly CommandOutcome[], isSimulated: boolean): unknown {
  const one = (outcome: CommandOutcome): unknown => {
    if (outcome.kind === 'unreached') return { diagnostics: diagnosticsJson(outcome.diagnostics) };
    const { exit, stdout, stderr, isTruncated } = outcome.result;
    return { exit, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr), truncated: isTruncated };
  };
  return {
    formatVersion: 1,
    ...(isSimulated ? { simulated: true } : {}),
    nodes: Object.fromEntries(outcomes.map((outcome) => [outcome.node, one(outcome)])),
  };
}
