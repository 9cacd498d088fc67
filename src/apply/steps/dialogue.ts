import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { Asking, Heard, Talk } from '../../drivers/contract/driver.ts';
import { beginDialogue, unendedCode } from '../../drivers/registry.ts';
import { given } from '../../model/given.ts';
import type { Exit } from '../../model/probe.ts';
import { placementSubject, type Subject } from '../../model/subject.ts';
import { parseAskAnswer, talkCommand } from '../../node/endpoint/ask-endpoint.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';

/** Time limit per request: a mesh answers immediately or not at all. */
const requestMs = 20_000;
/** A state names every model on every node. A longer answer is cut off and fails to parse as JSON. */
const maxBytes = 4_194_304;

interface Conversation {
  readonly step: StepOf<'dialogue'>;
  readonly context: StepContext;
  readonly startMs: number;
  readonly endMs: number;
  /** Real milliseconds per dialogue millisecond. */
  readonly pace: number;
}

/**
 * Runs a dialogue with a placement's endpoint: sends the dialogue's requests on the nodes that it names and passes the
 * answers back, until the dialogue is done or has failed, or the step's deadline is over.
 */
export async function runDialogue(step: StepOf<'dialogue'>, context: StepContext): Promise<StepResult> {
  const startMs = performance.now();
  const pace = context.timing.talkScale;
  const talking = { step, context, startMs, endMs: startMs + deadlineOf(step, context), pace };
  let talk: Talk = beginDialogue(step.act);
  while (talk.kind === 'ask') {
    if (context.signal.aborted) return interrupted;
    const lost = context.session(talk.request.node).isLost();
    if (lost || performance.now() >= talking.endMs) return problemResult(notEnded(talking, talk, lost));
    context.progress({ text: escapeText(talk.about) });
    await pause(talk.afterMs * pace, context.signal);
    talk = talk.hear(await askOnce(talking, talk));
  }
  if (context.signal.aborted) return interrupted;
  if (talk.kind === 'done') {
    context.progress({ text: escapeText(talk.note) });
    return { outcome: 'changed', diagnostics: [] };
  }
  const { code, reason, hint } = talk;
  const detail = sentence(`${step.act.placement} on ${step.node}: ${escapeText(reason)}`);
  return problemResult(diagnose(code, { subject: subjectOf(step), detail, ...given({ hint }) }));
}

/** A dialogue that the run can do without only reports its problem: such codes are warnings. */
const problemResult = (diagnostic: Diagnostic): StepResult =>
  diagnostic.severity === 'warning' ? { outcome: 'unchanged', diagnostics: [diagnostic] } : failed(diagnostic);

const subjectOf = ({ act }: StepOf<'dialogue'>): Subject => placementSubject(act.placement);

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const notEnded = ({ step }: Conversation, { about, request }: Asking, isLost: boolean): Diagnostic =>
  diagnose(unendedCode(step.act), {
    subject: subjectOf(step),
    detail: sentence(
      `${step.act.placement}: ${isLost ? `${request.node} cannot be reached` : 'timed out'}; last: ${escapeText(about)}`,
    ),
  });

/** Connection refused. @see curl(1), EXIT CODES: failed to connect to host */
const isRefusal = (exit: Exit): boolean => exit.kind === 'exited' && exit.code === 7;

async function askOnce(talking: Conversation, { request }: Asking): Promise<Heard> {
  const { context, startMs, endMs, pace } = talking;
  const leftMs = Math.max(100, Math.min(request.limitMs ?? requestMs, endMs - performance.now()));
  const answer = await context.session(request.node).ask((rootPrefix) => ({
    name: 'dialogue',
    command: talkCommand({ ...request, deadlineSeconds: Math.ceil(leftMs / 100) / 10, rootPrefix }),
    deadlineMs: leftMs + 2_000,
    maxBytes,
    stdin: Buffer.from(request.body ?? ''),
  }));
  const heard = answer.kind === 'ended' ? parseAskAnswer(printedText(answer.result).stdout) : undefined;
  const isRefused = answer.kind === 'ended' && isRefusal(answer.result.exit);
  return {
    status: 0,
    body: '',
    ...(heard ?? { isUnasked: true }),
    ...(isRefused ? { isRefused } : {}),
    atMs: (performance.now() - startMs) / pace,
  };
}
