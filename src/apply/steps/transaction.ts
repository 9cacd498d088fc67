import { diagnose } from '../../diagnostics/diagnose.ts';
import { confirmBody, transactionBody } from '../../engine/scripts/transaction.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../pause.ts';
import { type StepContext, type StepOf, stepName, subjectOf } from './context.ts';
import { type RootBody, type RootResult, sendOnce } from './root-script.ts';

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
