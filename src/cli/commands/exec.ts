import { type CommandOutcome, runCommand } from '../../apply/run-command.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import { quote } from '../../script/quote.ts';
import type { Console } from '../console.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { showProgress } from '../progress.ts';
import { namedTargets } from '../targets.ts';
import { useLimits } from '../use-limits.ts';
import type { VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

const maxOutputBytes = 16 * 1024 * 1024;

/** `exec NODE… -- WORD…`: one command on nodes, its words unchanged, its output behind the node's name. */
export const exec: VerbBody = async (run) => {
  const words = run.tail ?? [];
  if (words.length === 0) {
    throw usageError('The command is missing.', 'Put it behind two dashes: meshwright exec --all -- sw_vers');
  }
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, namedTargets(run, cluster.fleet));
  const ways = openWays(run, cluster);
  const requests = await ways.toAll(nodes);
  const progress = showProgress(
    run.console,
    'running',
    nodes.map((node) => node.name),
  );
  const outcomes = await runCommand(requests, words.map(quote).join(' '), {
    ...useLimits(run),
    parallel: run.options.parallel,
    maxBytes: maxOutputBytes,
    onOutcome: (outcome) => progress.done(outcome.node),
  }).finally(() => progress.stop());
  if (run.options.json) showJson(run.console, execJson(outcomes, ways.isSimulated));
  else for (const outcome of outcomes) showOutcome(run.console, outcome);
  return codeForNodes(outcomes.map(verdictOf));
};

function verdictOf(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return 'unjudged';
  return isSuccess(outcome.result.exit) && !outcome.result.isTruncated ? 'fine' : 'wrong';
}

const decoder = new TextDecoder();

function showOutcome(console: Console, outcome: CommandOutcome): void {
  if (outcome.kind === 'unreached') {
    showDiagnostics(console, outcome.diagnostics);
    return;
  }
  const { result, node } = outcome;
  for (const line of linesOf(result.stdout)) console.out(`${node} | ${line}\n`);
  for (const line of linesOf(result.stderr)) console.err(`${node} ! ${line}\n`);
  if (result.isTruncated) console.err(`${node} ! output cut after ${maxOutputBytes} bytes\n`);
  if (!isSuccess(result.exit)) console.err(`${node} ! ${exitText(result.exit)}\n`);
}

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
