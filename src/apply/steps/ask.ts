import { diagnose } from '../../diagnostics/diagnose.ts';
import { exitText } from '../../model/exit.ts';
import { askCommand, parseAskAnswer } from '../../script/ask-endpoint.ts';
import { judgeToken } from '../../script/judge-token.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../pause.ts';
import type { Session } from '../session.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';

/**
 * Asks the endpoint of a placement, on its own node, until it answers with a token or the deadline is over. Asking
 * changes nothing, so it is asked again while it is only not there yet.
 */
export async function runAsk(step: StepOf<'ask'>, context: StepContext): Promise<StepResult> {
  const session = context.session(step.node);
  const endMs = performance.now() + deadlineOf(step, context);
  let reason = 'it was not asked';
  while (!context.signal.aborted) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0 || session.isLost()) break;
    const answer = await askOnce(step.act, session, leftMs);
    if (answer === 'token') return { outcome: 'unchanged', diagnostics: [] };
    reason = answer.reason;
    context.progress({ text: reason });
    await pause(Math.min(context.timing.gatePollMs, Math.max(1, endMs - performance.now())), context.signal);
  }
  if (context.signal.aborted) return interrupted;
  const detail = `${step.act.placement} on ${step.node} gave no token: ${reason}.`;
  return failed(diagnose('ask/no-token', { subject: `placement ${step.act.placement}`, detail }));
}

/** Answers of an endpoint are short; a long one is cut and is then no JSON. */
const maxBytes = 262_144;

async function askOnce(
  { port, path, request, pointer }: StepOf<'ask'>['act'],
  session: Session,
  leftMs: number,
): Promise<'token' | { readonly reason: string }> {
  const deadlineSeconds = Math.max(0.1, Math.round(leftMs / 100) / 10);
  const answer = await session.ask((rootPrefix) => ({
    command: askCommand({ port, path, deadlineSeconds, rootPrefix }),
    // curl ends by itself; a node that does not even do that is given a moment more.
    deadlineMs: leftMs + 2_000,
    maxBytes,
    stdin: Buffer.from(request),
  }));
  if (answer.kind === 'unreached') return { reason: answer.diagnostics[0].summary };
  const { stdout, exit } = answer.result;
  const heard = parseAskAnswer(Buffer.from(stdout).toString('utf8'));
  if (heard === undefined) return { reason: `curl on the node gave no answer (${exitText(exit)})` };
  const judged = judgeToken(heard, pointer);
  return judged.kind === 'token' ? 'token' : { reason: judged.reason };
}
