import { type CommandFor, type CommandOutcome, runCommand } from '../../apply/reach/session.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { isSuccess } from '../../model/probe.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import type { Ways } from '../cluster/ways.ts';
import type { NodeVerdict } from '../exit-codes.ts';
import { showProgress } from '../terminal/progress.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { verdictOf } from './facts.ts';

/** Of the answer of one node; what these commands print is short. */
const maxBytes = 4_194_304;

/** Runs one short command on nodes that only reads there, with progress on the error stream when it takes long. */
export async function askNodes(
  run: Run,
  { nodes, ways }: { readonly nodes: readonly DesiredNode[]; readonly ways: Ways },
  command: CommandFor,
): Promise<readonly CommandOutcome[]> {
  const names = nodes.map(({ name }) => name);
  const progress = showProgress(run.console, 'asking', names);
  const options = {
    ...useLimits(run),
    parallel: run.options.parallel,
    maxBytes,
    onOutcome: ({ node }: CommandOutcome) => progress.done(node),
  };
  return runCommand(await ways.toAll(nodes), command, options).finally(() => progress.stop());
}

type Ended = Extract<CommandOutcome, { readonly kind: 'ended' }>;

/** Whether the command ended with 0 on its node. */
export const isAnswered = (outcome: CommandOutcome): outcome is Ended =>
  outcome.kind === 'ended' && isSuccess(outcome.result.exit);

/** What the command printed, as UTF-8. */
export const answerText = ({ result }: Ended): string => new TextDecoder().decode(result.stdout);

/** Why a node was not reached, or why nobody knows how the command ended there. */
export function outcomeDiagnostics(outcome: CommandOutcome): readonly Diagnostic[] {
  if (outcome.kind === 'unreached') return outcome.diagnostics;
  const broken = diagnoseExit(outcome.node, outcome.result.exit);
  return broken === undefined ? [] : [broken];
}

/** A node whose answer did not come is unjudged; one that waits for its FileVault password needs hands. */
export function outcomeVerdict(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return verdictOf(outcome.diagnostics);
  return isAnswered(outcome) ? 'fine' : 'unjudged';
}
