import { type CommandOutcome, runCommand } from '../../apply/run-command.ts';
import { selectNodes } from '../../desired/select.ts';
import { meshwright, withTail } from '../../model/command.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { isSuccess } from '../../model/exit.ts';
import { prose } from '../../model/prose.ts';
import { quote } from '../../script/quote.ts';
import { maxBytesPerNode, showOutcomes, showOutcomesJson } from '../exec-output.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { openCluster, targetedNodes } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { showProgress } from '../progress.ts';
import { shownWord } from '../shown-word.ts';
import { namedTargets } from '../targets.ts';
import { useLimits } from '../use-limits.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';
import { verdictOf as verdictOfFailures } from './facts.ts';

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
  const maxBytes = maxBytesPerNode(nodes.length);
  const outcomes = await runCommand(requests, command, {
    ...useLimits(run),
    parallel: run.options.parallel,
    maxBytes,
    onOutcome: (outcome) => progress.done(outcome.node),
  }).finally(() => progress.stop());
  const show = run.options.json ? showOutcomesJson : showOutcomes;
  await show(run.console, outcomes, { isSimulated: ways.isSimulated, maxBytes });
  return codeForNodes(outcomes.map(verdictOf));
};

/** The words behind `--` as one command line. @throws FleetError `cli/usage` that says where the command begins. */
function wantedCommand(run: Run, fleet: DesiredFleet): string {
  if (run.tail !== undefined && run.tail.length > 0) return run.tail.map(quote).join(' ');
  const isNode = (word: string): boolean => selectNodes(fleet, { names: [word], labels: [] }).nodes.length > 0;
  const first = run.words.findIndex((word) => !isNode(word));
  const targets = run.words.slice(0, Math.max(first, 0)).join(' ') || '--all';
  const command = first < 0 ? 'sw_vers' : run.words.slice(first).map(shownWord).join(' ');
  throw usageError(
    'The command is missing.',
    prose`Put it behind two dashes:\n  ${withTail(meshwright('exec', targets), command)}`,
  );
}

function verdictOf(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return verdictOfFailures(outcome.diagnostics);
  return isSuccess(outcome.result.exit) && !outcome.result.isTruncated ? 'fine' : 'wrong';
}
