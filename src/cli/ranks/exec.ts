import { type CommandOutcome, runCommand } from '../../apply/reach/run-command.ts';
import { selectNodes } from '../../desired/select.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { isSuccess } from '../../model/exit.ts';
import { meshwright, withTail } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { quote } from '../../node/quote.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import { verdictOf as verdictOfFailures } from '../look/facts.ts';
import { showProgress } from '../terminal/progress.ts';
import { shownWord } from '../terminal/shown-word.ts';
import { codeForNodes, type NodeVerdict } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { maxBytesPerNode, showOutcomes, showOutcomesJson } from './exec-output.ts';

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
