import { randomBytes } from 'node:crypto';
import { type ObserveOptions, observeFleet } from '../../apply/reach/observe.ts';
import { type CommandFor, type CommandOutcome, runCommand, type UseLimits } from '../../apply/reach/session.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { isSuccess } from '../../model/probe.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import type { Ways } from '../cluster/ways.ts';
import { type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { withProgress } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** Of the answer of one node; what these commands print is short. */
const maxBytes = 4_194_304;

/** Runs one short command on nodes that only reads there, with progress on the error stream when it takes long. */
export function askNodes(
  run: Run,
  { nodes, ways }: { readonly nodes: readonly DesiredNode[]; readonly ways: Ways },
  command: CommandFor,
): Promise<readonly CommandOutcome[]> {
  const options = { ...useLimits(run), parallel: run.options.parallel, maxBytes };
  return withProgress(run.console, ['asking', nodes], async (done) =>
    runCommand(await ways.toAll(nodes), command, { ...options, onOutcome: ({ node }) => done(node) }),
  );
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

/** What of an observation differs from verb to verb. */
export type ObserveExtent = Pick<ObserveOptions, 'facts' | 'firstByteMs' | 'tokensOf' | 'onSeen'>;

/** How long a Mac may be silent at first for a verb that only shows, unless its deadline was raised. */
const silentMs = 4_000;
const usualDeadlineMs = 30_000;

/**
 * The bound of a connection for a verb that only shows: a Mac that is off is named after 4 s. A `--deadline` above the
 * usual one holds for connecting as well. Verbs that change a Mac have more patience with it.
 */
export const shownOnly = ({ options: { deadline } }: Run): Pick<ObserveExtent, 'firstByteMs'> =>
  deadline > usualDeadlineMs ? {} : { firstByteMs: silentMs };

/** Observes the given nodes, with progress on the error stream when it takes long. */
export function observeNodes(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: Ways,
  extent: ObserveExtent = {},
): Promise<FleetObservation> {
  return withProgress(run.console, ['observing', nodes], async (onNode) =>
    observeFleet(await ways.toAll(nodes), { ...observeLimits(run), ...extent, onNode }),
  );
}

/** What every observation of this run has. */
export const observeLimits = (run: Run): Pick<ObserveOptions, keyof UseLimits | 'parallel' | 'newToken'> => ({
  ...useLimits(run),
  parallel: run.options.parallel,
  newToken: () => randomBytes(16).toString('hex'),
});
