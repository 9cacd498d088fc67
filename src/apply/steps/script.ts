import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { scriptBody } from '../../engine/scripts/registry.ts';
import { confirmBody, transactionBody } from '../../engine/scripts/transaction.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { place } from '../../node/paths/node-paths.ts';
import { withdrawBody } from '../../node/withdraw.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../run-timing.ts';
import { type StepContext, type StepOf, type StepRunner, stepName, subjectOf } from './context.ts';
import { type RootBody, type RootResult, sendOnce, sendRootScript } from './root-script.ts';

/** How often the first half is sent when a connection breaks off before it has come to the node. */
const maxRuns = 3;

/**
 * Changes the network of a node in two halves. The first saves, arms a rollback on the node and changes; the second
 * confirms, over a connection that was made after the change: only that proves that the node can still be reached.
 * Without it the node puts everything back, whatever becomes of this computer.
 */
export async function runTransaction(step: StepOf<'transaction'>, context: StepContext): Promise<StepResult> {
  let result = await changeOnce(step, context);
  for (let runs = 1; runs < maxRuns && result.slug === 'no-transaction' && !context.signal.aborted; runs += 1) {
    await pause(context.timing.retryMs * runs, context.signal);
    result = await changeOnce(step, context);
  }
  return result;
}

async function changeOnce(step: StepOf<'transaction'>, context: StepContext): Promise<RootResult> {
  const hold = context.hold(step.node);
  if (hold.kind === 'none') return { outcome: 'failed', diagnostics: hold.diagnostics };
  const { runId, verb, by, config, timing } = context;
  const about = { fence: { run: runId, token: hold.token }, note: { step: step.id, verb, by, config } };
  const seconds = timing.rollbackAfterMs / 1_000;
  const endMs = performance.now() + timing.rollbackAfterMs;
  const made = await sendOnce(step, context, () => transactionBody({ ...about, call: step.act, seconds }));
  const isOver = made.outcome === 'unchanged' || made.isUnreached === true || neverArmed(made);
  if (isOver) return made;
  context.progress({ text: 'made, and now confirmed over a new connection' });
  const confirmed = await confirm(step, context, { body: () => confirmBody(about), endMs });
  // What failed was put back at once, or stands in part: its own words say why, whatever the second half found.
  return made.outcome === 'failed' ? made : confirmed;
}

/** Nothing is armed where the script was turned away, or where it could not even arm. */
const neverArmed = ({ outcome, slug }: RootResult): boolean =>
  outcome === 'failed' && (slug === undefined || slug === 'not-armed' || slug === 'rollback-pending');

interface Confirmation {
  readonly body: RootBody;
  /** When the node begins to put everything back, at the earliest. */
  readonly endMs: number;
}

/**
 * Asks until the node has answered, over a new connection each time. After the time of the rollback it is still asked
 * for as long as a look may take: a node that has put itself back says so.
 */
async function confirm(
  step: StepOf<'transaction'>,
  context: StepContext,
  { body, endMs }: Confirmation,
): Promise<RootResult> {
  for (;;) {
    const session = context.newSession(step.node);
    const result = await sendOnce(step, { ...context, session: () => session }, body);
    session.close();
    const isHeard = result.isUnreached !== true && result.outcome !== 'unknown';
    if (isHeard) return result.outcome === 'unchanged' ? { ...result, outcome: 'changed' } : result;
    const isLate = performance.now() > endMs + context.lookMs;
    if (isLate || context.signal.aborted) return unconfirmed(step, result);
    context.progress({ text: 'not reached since the change; it takes the change back by itself' });
    await pause(context.timing.retryMs, context.signal);
  }
}

const unconfirmed = (step: StepOf<'transaction'>, { diagnostics }: RootResult): RootResult => ({
  outcome: 'unknown',
  diagnostics: [
    diagnose('step/unconfirmed', {
      subject: subjectOf(step),
      detail: prose`${stepName(step)}: ${named(step.node)} was not reached over a new connection after its network was changed.`,
      related: diagnostics,
    }),
  ],
});

/** Runs a named script as root. */
export const runScript: StepRunner<'script'> = (step, context) =>
  step.act.name === 'withdraw-node' ? runWithdraw(step, context) : send(step, context);

async function send(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { said = [], outcome, diagnostics } = await sendRootScript(step, context, () => scriptBody(step.act));
  return { outcome, diagnostics: [...diagnostics, ...stopWords(step, said)] };
}

/**
 * Runs the last script of all on a node, once: it takes the lease away with everything else, so that the lease is not
 * renewed from here on, and nobody gives it back. Only a script that is known to have changed nothing brings that back.
 */
async function runWithdraw(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { node } = step;
  await context.onWithdraw?.(node);
  context.suspend(node);
  const result = await sendOnce(step, context, withdrawBody);
  if (result.outcome === 'failed') await context.resume(node);
  return result;
}

const saidAt = (said: readonly string[], key: string): string | undefined =>
  said.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);

/** Whoever is left inside loses its answer by the stop that follows; so may somebody who could not be counted. */
function drainWords(step: StepOf<'script'>, placement: string, left = 'unknown'): readonly Diagnostic[] {
  if (left === '0') return [];
  const isNumber = /^\d{1,9}$/.test(left);
  const detail = isNumber
    ? `${left} requests to ${placement} are still inside when the time to finish is over.`
    : prose`The doorman of ${placement} on ${named(step.node)} did not say how many requests are inside until the time was over.`;
  return [diagnose('mesh/cut-off', { subject: subjectOf(step), detail })];
}

/** What a person should know of a step that went well: how a rank ended that it has stopped. */
export function stopWords(step: StepOf<'script'>, said: readonly string[]): readonly Diagnostic[] {
  if (step.act.name === 'drain-door') return drainWords(step, step.act.args.placement, saidAt(said, 'left'));
  if (step.act.name !== 'stop-rank') return [];
  const { placement, beforeReboot } = step.act.args;
  const rank = prose`The rank of ${placement} on ${named(step.node)}`;
  const sample = saidAt(said, 'sample');
  const file = sample === undefined ? '' : `; its stack before that: ${place.log.path}/${escapeText(sample)} there`;
  const processes = saidAt(said, 'processes');
  if (processes !== undefined) {
    const detail = prose`${rank} does not end, not even by KILL (${escapeText(processes)})${file}.`;
    return [diagnose('mesh/left-to-restart', { subject: subjectOf(step), detail })];
  }
  const ended = saidAt(said, 'ended');
  const isKilled = ended === 'killed' || sample !== undefined;
  const killed = prose`${rank} did not end by itself and was killed${file}.`;
  const kill = isKilled ? [diagnose('mesh/killed', { subject: subjectOf(step), detail: killed })] : [];
  if (ended !== 'needs-reboot') return kill;
  const [wired = '', before = ''] = ['wired', 'baseline'].map((key) => saidAt(said, key) ?? 'unknown');
  const numbers = `${escapeText(wired)} bytes stay wired, ${escapeText(before)} were before any rank ran`;
  const fields = { subject: subjectOf(step), detail: prose`${rank} has ended: ${numbers}.` };
  if (beforeReboot) return [...kill, diagnose('mesh/left-to-restart', fields)];
  const hint = prose`Restart it; nothing is started there until then: ${meshwright('reboot', step.node)}`;
  return [...kill, diagnose('mesh/needs-reboot', { ...fields, hint })];
}
