import { createHash } from 'node:crypto';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { scriptBody } from '../../engine/scripts/registry.ts';
import { digest } from '../../model/digest.ts';
import { exitText } from '../../model/exit.ts';
import type { GoldenRecord } from '../../model/golden.ts';
import { placementSubject, type Subject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { askCommand, parseTimedAnswer, type TimedAnswer } from '../../node/endpoint/ask-endpoint.ts';
import { type GoldenSpeed, goldenSpeed, judgeGolden } from '../../node/endpoint/judge-golden.ts';
import { judgeToken } from '../../node/endpoint/judge-token.ts';
import { notAskedStatus } from '../../node/endpoint/turn-at-endpoint.ts';
import type { StepResult } from '../execute.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';
import { isAsFast, judgeSpeed, type SpeedVerdict } from './judge-speed.ts';
import { sendRootScript } from './root-script.ts';
import { slownessOf } from './slowness.ts';

type Prove = StepOf<'prove'>;

/** Answers of some dozen tokens are short; a long one is cut and is then no JSON. */
const maxBytes = 262_144;

/**
 * Asks the golden question once everything is loaded, compares the answer with that of the first start, measures how
 * fast it came, and keeps both on the node. Another answer fails the start, and so does one that is slower than the
 * file expects, or than it was by far: a mesh that came back worse than it was is not what was asked for.
 */
export async function runProve(step: Prove, context: StepContext): Promise<StepResult> {
  const { act } = step;
  const endMs = performance.now() + deadlineOf(step, context);
  const first = await ask(step, context, { body: act.token, endMs });
  if (context.signal.aborted) return interrupted;
  if (typeof first === 'string') return failed(noAnswer(step, first));
  if (first.status === notAskedStatus) return notProven(step);
  const token = judgeToken(first, act.pointer, act.countPointer);
  if (token.kind === 'none') return failed(noAnswer(step, token.reason));
  const whole = await ask(step, context, { body: act.question, endMs });
  if (context.signal.aborted) return interrupted;
  if (typeof whole === 'string') return failed(noAnswer(step, whole));
  if (whole.status === notAskedStatus) return notProven(step);
  const judged = judgeGolden(whole, act.pointer, act.check);
  if (judged.kind === 'none') return failed(noAnswer(step, judged.reason));
  const sha256 = digest(createHash('sha256').update(judged.text).digest('hex'));
  if (act.check === 'equal' && act.kept !== undefined && act.kept !== sha256) return failed(anotherAnswer(step));
  const speed = goldenSpeed(timesOf(first, whole), judged.tokens);
  const { verdict, speed: best } = await secondLook({ step, context, endMs }, speed);
  if (context.signal.aborted) return interrupted;
  if (verdict.kind === 'too-slow' || verdict.kind === 'much-slower') {
    return failed(await slownessOf(step, context, verdict));
  }
  const unsure = verdict.kind === 'unknown' ? [speedUnknown(step, verdict.detail)] : [];
  const { key } = act;
  if (key === undefined) return { outcome: 'unchanged', diagnostics: unsure };
  const firstTokenMs = Math.round(first.seconds * 1_000);
  const { outcome, diagnostics } = await keep(step, context, { key, sha256, firstTokenMs, ...speeds(act, best) });
  return { outcome, diagnostics: [...diagnostics, ...unsure] };
}

/** The last speed, and the most that any start gave whose answer was long enough. */
function speeds(
  { keptPerSecond }: Prove['act'],
  speed: GoldenSpeed,
): Pick<GoldenRecord, 'tokensPerSecond' | 'steadyPerSecond'> {
  if (speed.kind !== 'measured') return keptPerSecond === undefined ? {} : { steadyPerSecond: keptPerSecond };
  const most = Math.max(keptPerSecond ?? 0, speed.isSteady ? speed.perSecond : 0);
  return { tokensPerSecond: speed.perSecond, ...(most === 0 ? {} : { steadyPerSecond: most }) };
}

interface Looking {
  readonly step: Prove;
  readonly context: StepContext;
  readonly endMs: number;
}

/** How often a mesh is asked that is much slower than it was. */
const mostLooks = 3;

/**
 * Asks again where a mesh seems to be much slower than it was, and takes the best of its answers. One token is asked for
 * anew as well, since the first one may have come in the busy moment. An answer that does not say for sure how fast it
 * came takes nothing back of one that does.
 */
async function secondLook(
  { step, context, endMs }: Looking,
  measured: GoldenSpeed,
): Promise<{ readonly verdict: SpeedVerdict; readonly speed: GoldenSpeed }> {
  const { act } = step;
  let speed = measured;
  let verdict = judgeSpeed(step, speed);
  for (let look = 1; look < mostLooks && verdict.kind === 'much-slower'; look += 1) {
    const first = await ask(step, context, { body: act.token, endMs });
    if (context.signal.aborted || typeof first === 'string') break;
    const whole = await ask(step, context, { body: act.question, endMs });
    if (context.signal.aborted || typeof whole === 'string') break;
    if (judgeToken(first, act.pointer, act.countPointer).kind === 'none') continue;
    const judged = judgeGolden(whole, act.pointer, act.check);
    const tokens = judged.kind === 'golden' ? judged.tokens : undefined;
    const times = timesOf(first, whole);
    const again = goldenSpeed(times, tokens);
    if (again.kind !== 'measured' || !again.isSteady) {
      // A fast mesh is soon through with a short answer. Behind its first token it gives no less than in the whole time.
      if (isAsFast(step, tokens ?? 0, times.wholeMs)) return { verdict: { kind: 'enough' }, speed };
      continue;
    }
    if (speed.kind === 'measured' && again.perSecond <= speed.perSecond) continue;
    speed = again;
    verdict = judgeSpeed(step, speed);
  }
  return { verdict, speed };
}

const timesOf = (first: TimedAnswer, whole: TimedAnswer) => ({
  firstMs: first.seconds * 1_000,
  wholeMs: whole.seconds * 1_000,
});

async function ask(
  { act, node }: Prove,
  context: StepContext,
  { body, endMs }: { readonly body: string; readonly endMs: number },
): Promise<TimedAnswer | string> {
  const leftMs = Math.max(1_000, endMs - performance.now());
  const { placement, port, path, isOne = false } = act;
  const deadlineSeconds = Math.round(leftMs / 100) / 10;
  const answer = await context.session(node).ask((rootPrefix) => ({
    name: 'prove',
    command: askCommand({ placement, port, path, isOne, deadlineSeconds, rootPrefix, isTimed: true }),
    deadlineMs: leftMs + 2_000,
    maxBytes,
    stdin: Buffer.from(body),
  }));
  if (answer.kind === 'unreached') return answer.diagnostics[0].summary;
  const { stdout, exit } = answer.result;
  const heard = parseTimedAnswer(Buffer.from(stdout).toString('utf8'));
  return heard ?? `curl on the node gave no answer (${exitText(exit)})`;
}

async function keep(step: Prove, context: StepContext, golden: GoldenRecord): Promise<StepResult> {
  const { placement } = step.act;
  const body = scriptBody({ name: 'keep-golden', args: { placement, golden } });
  return await sendRootScript(step, context, () => body);
}

const fieldsOf = ({ act: { placement } }: Prove): { readonly subject: Subject } => ({
  subject: placementSubject(placement),
});

const noAnswer = (step: Prove, reason: string): Diagnostic =>
  diagnose('ask/no-token', {
    ...fieldsOf(step),
    detail: prose`${step.act.placement} on ${named(step.node)} gave no golden answer: ${reason}.`,
  });

const anotherAnswer = (step: Prove): Diagnostic =>
  diagnose('mesh/another-answer', {
    ...fieldsOf(step),
    detail: prose`${step.act.placement} on ${named(step.node)} answered the golden question otherwise than after its first start: same file, same macOS, nothing left to chance.`,
    hint: prose`Start it anew, which looks at every cached tensor again: ${meshwright('restart', step.act.placement)}. If the answer stays another one, do not trust it: docs/errors.md says what to look at.`,
  });

/** A mesh that gave its token and has clients serves; a question of ours beside theirs could end it. */
const notProven = (step: Prove): StepResult => ({
  outcome: 'unchanged',
  diagnostics: [speedUnknown(step, 'The golden question was not asked, since a request is in flight.')],
});

const speedUnknown = (step: Prove, detail: string): Diagnostic =>
  diagnose('mesh/speed-unknown', { ...fieldsOf(step), detail });
