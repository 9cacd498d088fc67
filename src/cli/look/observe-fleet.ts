import { randomBytes } from 'node:crypto';
import { type ObserveOptions, observeFleet } from '../../apply/reach/observe.ts';
import { type CommandFor, type CommandOutcome, runCommand, type UseLimits } from '../../apply/reach/session.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { isSuccess } from '../../model/probe.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { withProgress } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** The maximum size of one node's answer. These commands print little. */
const maxBytes = 4_194_304;

/** Runs one short, read-only command on nodes. Shows progress on stderr if this takes long. */
export function askNodes(
  run: Run,
  { nodes, ways }: { readonly nodes: readonly DesiredNode[]; readonly ways: SshTargets },
  command: CommandFor,
): Promise<readonly CommandOutcome[]> {
  const options = { ...useLimits(run), parallel: run.options.parallel, maxBytes };
  return withProgress(run.console, ['asking', nodes], async (done) =>
    runCommand(await ways.toAll(nodes), command, { ...options, onOutcome: ({ node }) => done(node) }),
  );
}

type Ended = Extract<CommandOutcome, { readonly kind: 'ended' }>;

/** True if the command exited with 0. */
export const isAnswered = (outcome: CommandOutcome): outcome is Ended =>
  outcome.kind === 'ended' && isSuccess(outcome.result.exit);

/** The command's output, decoded as UTF-8. */
export const answerText = ({ result }: Ended): string => new TextDecoder().decode(result.stdout);

/** Why a node was not reached, or why the command's exit status is unknown. */
export function outcomeDiagnostics(outcome: CommandOutcome): readonly Diagnostic[] {
  if (outcome.kind === 'unreached') return outcome.diagnostics;
  const broken = diagnoseExit(outcome.node, outcome.result.exit);
  return broken === undefined ? [] : [broken];
}

/** A node without an answer is `unjudged`; a node waiting for its FileVault password needs a manual step (`hands`). */
export function outcomeVerdict(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return verdictOf(outcome.diagnostics);
  return isAnswered(outcome) ? 'fine' : 'unjudged';
}

/** The observation options that differ between commands. */
export type ObserveExtent = Pick<ObserveOptions, 'facts' | 'modelsOn' | 'firstByteMs' | 'tokensOf' | 'onSeen'>;

/** How long a read-only command waits for a Mac's first byte, unless --deadline is raised. */
const silentMs = 4_000;
const usualDeadlineMs = 30_000;

/**
 * The connection limit of a read-only command: a Mac that is off is reported after 4 s. A `--deadline` above the
 * default also applies to connecting. Commands that change a Mac wait longer for it.
 */
export const shownOnly = ({ options: { deadline } }: Run): Pick<ObserveExtent, 'firstByteMs'> =>
  deadline > usualDeadlineMs ? {} : { firstByteMs: silentMs };

/** Observes the given nodes. Shows progress on stderr if this takes long. */
export function observeNodes(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: SshTargets,
  extent: ObserveExtent = {},
): Promise<FleetObservation> {
  return withProgress(run.console, ['observing', nodes], async (onNode) =>
    observeFleet(await ways.toAll(nodes), { ...observeLimits(run), ...extent, onNode }),
  );
}

export const observeLimits = (run: Run): Pick<ObserveOptions, keyof UseLimits | 'parallel' | 'newBoundary'> => ({
  ...useLimits(run),
  parallel: run.options.parallel,
  newBoundary: () => randomBytes(16).toString('hex'),
});
