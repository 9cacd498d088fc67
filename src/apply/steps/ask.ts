import { diagnose } from '../../diagnostics/diagnose.ts';
import { exitText } from '../../model/exit.ts';
import { placementSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { askCommand, parseAskAnswer } from '../../node/endpoint/ask-endpoint.ts';
import { judgeToken } from '../../node/endpoint/judge-token.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../pause.ts';
import type { Session } from '../reach/session.ts';
import { failed, interrupted, type StepContext, type StepOf } from './context.ts';
import { promisedMs, type StartPatience, startPatience } from './start-patience.ts';

type Ask = StepOf<'ask'>;

/** What one request came to, and how long it took. */
type Asked = { readonly kind: 'token'; readonly tookMs: number } | { readonly kind: 'none'; readonly reason: string };

/**
 * Asks the endpoint of a placement, on its own node, until it answers with a token or the deadline is over. Asking
 * changes nothing, so it is asked again while it is only not there yet. One request is under way at a time, and as long
 * as its ranks get on: who cuts off a load begins it anew. A token that took longer than the file gives a loaded mesh
 * may have brought the load with it: then another one has to come in time.
 */
export async function runAsk(step: Ask, context: StepContext): Promise<StepResult> {
  const session = context.session(step.node);
  const patience = startPatience(step, context);
  let reason = 'it was not asked';
  while (!context.signal.aborted) {
    if (patience.leftMs() <= 0 || session.isLost()) break;
    const answer = await askWhile(step, context, patience);
    if (answer.kind === 'token') return await judgeTime(step, context, answer.tookMs);
    reason = answer.reason;
    if (patience.isGone()) break;
    context.progress({ text: reason });
    await patience.look();
    await pause(Math.min(context.timing.gatePollMs, Math.max(1, patience.leftMs())), context.signal);
  }
  return context.signal.aborted ? interrupted : noToken(step, reason);
}

const noToken = ({ node, act: { placement } }: Ask, reason: string): StepResult =>
  failed(
    diagnose('ask/no-token', {
      subject: placementSubject(placement),
      detail: prose`${placement} on ${named(node)} gave no token: ${reason}.`,
    }),
  );

/** Once it is loaded, a token has to come within what the file says. */
async function judgeTime(step: Ask, context: StepContext, tookMs: number): Promise<StepResult> {
  const limitMs = promisedMs(step, context);
  if (tookMs <= limitMs) return { outcome: 'unchanged', diagnostics: [] };
  context.progress({ text: 'its first token took long; it is asked once more' });
  const again = await askOnce(step.act, context.session(step.node), limitMs, context.signal);
  if (context.signal.aborted) return interrupted;
  if (again.kind === 'token') return { outcome: 'unchanged', diagnostics: [] };
  const seconds = Math.round(tookMs / 1_000);
  return noToken(
    step,
    `after one that took ${seconds} s none came in the time that the file gives it, ${again.reason}`,
  );
}

/** A server may hold a request while it loads: its ranks are looked at meanwhile, and it ends when they stand still. */
async function askWhile(step: Ask, context: StepContext, patience: StartPatience): Promise<Asked> {
  const { timing, signal } = context;
  const ending = new AbortController();
  let isAnswered = false;
  const asked = askOnce(step.act, context.session(step.node), patience.boundMs(), ending.signal);
  const over = asked.then(() => {
    isAnswered = true;
  });
  const wait = (): Promise<void> =>
    Promise.race([over, pause(Math.min(timing.gatePollMs, Math.max(1, patience.leftMs())), signal)]);
  await wait();
  while (!isAnswered && !signal.aborted && patience.leftMs() > 0 && !patience.isGone()) {
    await patience.look();
    await wait();
  }
  if (isAnswered) return await asked;
  ending.abort();
  await over;
  const why = patience.isGone() ? 'the processes of a rank are gone' : 'its ranks got no further';
  return { kind: 'none', reason: `the endpoint did not answer, and ${why}` };
}

/** Answers of an endpoint are short; a long one is cut and is then no JSON. */
const maxBytes = 262_144;

async function askOnce(
  { placement, port, path, request, pointer, countPointer, isOne }: Ask['act'],
  session: Session,
  limitMs: number,
  signal: AbortSignal,
): Promise<Asked> {
  const none = (reason: string): Asked => ({ kind: 'none', reason });
  const beganMs = performance.now();
  const deadlineSeconds = Math.max(0.1, Math.round(limitMs / 100) / 10);
  const answer = await session.ask((rootPrefix) => ({
    name: 'ask',
    command: askCommand({ placement, port, path, isOne: isOne === true, deadlineSeconds, rootPrefix }),
    // curl ends by itself; a node that does not even do that is given a moment more.
    deadlineMs: limitMs + 2_000,
    maxBytes,
    stdin: Buffer.from(request),
    signal,
  }));
  const tookMs = performance.now() - beganMs;
  if (answer.kind === 'unreached') return none(answer.diagnostics[0].summary);
  const { stdout, exit } = answer.result;
  const heard = parseAskAnswer(Buffer.from(stdout).toString('utf8'));
  if (heard === undefined) return none(`curl on the node gave no answer (${exitText(exit)})`);
  const judged = judgeToken(heard, pointer, countPointer);
  return judged.kind === 'token' ? { kind: 'token', tookMs } : none(judged.reason);
}
