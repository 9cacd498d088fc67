import { createHash } from 'node:crypto';
import { layoutOn } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { driverOf } from '../../drivers/registry.ts';
import { scriptBody } from '../../engine/scripts/registry.ts';
import { digest } from '../../model/digest.ts';
import type { GoldenRecord } from '../../model/endpoint-calls.ts';
import { given } from '../../model/given.ts';
import { exitText } from '../../model/probe.ts';
import { placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { askCommand, parseTimedAnswer, type TimedAnswer } from '../../node/endpoint/ask-endpoint.ts';
import {
  type GoldenSpeed,
  goldenSpeed,
  judgeGolden,
  judgeToken,
  notAskedStatus,
} from '../../node/endpoint/judge-answer.ts';
import { slowWords } from '../../rack/placement/mesh/read-mesh.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { observeSessions } from '../reach/observe.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';
import { sendRootScript } from './script.ts';

type Prove = StepOf<'prove'>;

/** Answers have a few dozen tokens. A longer one is cut off and fails to parse as JSON. */
const maxBytes = 262_144;

/**
 * Asks the golden question once everything is loaded, compares the answer with the first start's, measures its speed,
 * and stores both on the node. A different answer fails the start. So does a speed below the file's expectation, or far
 * below that of an earlier start.
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
  if (judged.kind === 'none') return failed(noAnswer(step, judged.reason, judged.text));
  const sha256 = digest(createHash('sha256').update(judged.text).digest('hex'));
  if (act.check === 'equal' && act.kept !== undefined && act.kept !== sha256) return failed(anotherAnswer(step));
  const speed = goldenSpeed(timesOf(first, whole), judged.tokens);
  const { verdict, speed: best } = await measureAgain(step, context, endMs, speed);
  if (context.signal.aborted) return interrupted;
  if (verdict.kind === 'too-slow' || verdict.kind === 'much-slower') {
    return failed(await slownessOf(step, context, verdict));
  }
  const unsure = verdict.kind === 'unknown' ? [speedUnknown(step, verdict.detail)] : [];
  const { key } = act;
  if (key === undefined) return { outcome: 'unchanged', diagnostics: unsure };
  const firstTokenMs = Math.round(first.seconds * 1_000);
  const golden = { key, sha256, firstTokenMs, ...speeds(act, best) };
  const body = scriptBody({ name: 'keep-golden', args: { placement: act.placement, golden } });
  const { outcome, diagnostics } = await sendRootScript(step, context, () => body);
  return { outcome, diagnostics: [...diagnostics, ...unsure] };
}

/** The last speed, and the highest of all starts whose answers were long enough to measure. */
function speeds(
  { keptPerSecond }: Prove['act'],
  speed: GoldenSpeed,
): Pick<GoldenRecord, 'tokensPerSecond' | 'steadyPerSecond'> {
  if (speed.kind !== 'measured') return keptPerSecond === undefined ? {} : { steadyPerSecond: keptPerSecond };
  const most = Math.max(keptPerSecond ?? 0, speed.isSteady ? speed.perSecond : 0);
  return { tokensPerSecond: speed.perSecond, ...(most === 0 ? {} : { steadyPerSecond: most }) };
}

/** Measurements of a mesh that seems much slower than before. */
const mostMeasurements = 3;

/**
 * Measures a mesh again if it seems much slower than before, and uses the fastest answer. The single token is requested
 * again, too, because the Mac may have been busy for the first one. An uncertain measurement never replaces a certain
 * one.
 */
async function measureAgain(
  step: Prove,
  context: StepContext,
  endMs: number,
  measured: GoldenSpeed,
): Promise<{ readonly verdict: SpeedVerdict; readonly speed: GoldenSpeed }> {
  const { act } = step;
  let speed = measured;
  let verdict = judgeSpeed(step, speed);
  for (let count = 1; count < mostMeasurements && verdict.kind === 'much-slower'; count += 1) {
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
      // A short answer is too fast to measure exactly, but the average over the whole time is a lower bound.
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
  const { stdout, exit } = printedText(answer.result);
  const heard = parseTimedAnswer(stdout);
  return heard ?? `curl on the node gave no answer (${exitText(exit)})`;
}

/** Characters shown of an answer. */
const shownCharacters = 200;

/** @param text the answer, if there is one that cannot be accepted */
function noAnswer({ node, act: { placement } }: Prove, reason: string, text?: string): Diagnostic {
  const words = text === undefined ? '' : ` It answered "${escapeText(text.slice(0, shownCharacters))}".`;
  const hint = prose`Check the model's files: ${meshwright('models verify', '--full')}. If they are right, try a different version of the runtime.`;
  return diagnose('ask/no-token', {
    subject: placementSubject(placement),
    detail: prose`${placement} on ${named(node)} gave no golden answer: ${reason}.${words}`,
    ...(text === undefined ? {} : { hint }),
  });
}

const anotherAnswer = (step: Prove): Diagnostic =>
  diagnose('mesh/another-answer', {
    subject: placementSubject(step.act.placement),
    detail: prose`${step.act.placement} on ${named(step.node)} gave a different answer to the golden question than after its first start, with the same file, the same macOS, and fixed sampling.`,
    hint: prose`Restart it, which checks every cached tensor again: ${meshwright('restart', step.act.placement)}. If the answer is still different, do not trust it; docs/errors.md lists what to check.`,
  });

/** A mesh with a token and clients counts as serving; an extra request next to theirs could crash it. */
const notProven = (step: Prove): StepResult => ({
  outcome: 'unchanged',
  diagnostics: [speedUnknown(step, 'The golden question was not asked, because a request is in flight.')],
});

const speedUnknown = (step: Prove, detail: string): Diagnostic =>
  diagnose('mesh/speed-unknown', { subject: placementSubject(step.act.placement), detail });

type SpeedVerdict =
  | { readonly kind: 'enough' }
  | ({ readonly kind: 'too-slow' } & Slowness)
  /** Far below an earlier start: measured again, because a Mac may have been busy for a moment. */
  | ({ readonly kind: 'much-slower' } & Slowness)
  /** A full sentence that says why the speed cannot be compared with the file. */
  | { readonly kind: 'unknown'; readonly detail: string };

/**
 * Below this share of its earlier speed, something is wrong with a mesh. A fallback from RDMA to TCP costs a factor of
 * ten or more; a longer cached prompt, a warm Mac or other work costs much less.
 */
const muchSlower = 1 / 5;

/** Compares a speed with the file's expectation or, without one, with an earlier start. */
function judgeSpeed({ node, act }: Prove, speed: GoldenSpeed): SpeedVerdict {
  const { placement, tokensPerSecond: wanted, keptPerSecond: earlier } = act;
  if (wanted !== undefined) return judgeWanted(`${placement} on ${node}`, { placement, wanted }, speed);
  // Speeds of short answers vary too much to compare.
  if (earlier === undefined || speed.kind !== 'measured' || !speed.isSteady) return { kind: 'enough' };
  if (speed.perSecond >= earlier * muchSlower) return { kind: 'enough' };
  return {
    kind: 'much-slower',
    measured: `${placement} gives ${speed.perSecond} tokens/s; with the same file and macOS it gave ${earlier} after an earlier start.`,
    hint: prose`Fix the named cause, then restart it: ${meshwright('restart', placement)}. If this speed is acceptable, set expect.tokensPerSecond in the file.`,
  };
}

/** Whether the average over the whole answer already proves that a mesh is not much slower than before. */
const isAsFast = ({ act: { keptPerSecond: earlier } }: Prove, tokens: number, wholeMs: number): boolean =>
  earlier !== undefined && (tokens / Math.max(1, wholeMs)) * 1_000 >= earlier * muchSlower;

function judgeWanted(
  who: string,
  { placement, wanted }: { readonly placement: string; readonly wanted: number },
  speed: GoldenSpeed,
): SpeedVerdict {
  const soUnknown = `so it is unknown whether it reaches ${wanted} tokens/s.`;
  switch (speed.kind) {
    case 'unknown':
      return { kind: 'unknown', detail: `${who} ${whyUnknown[speed.why]}, ${soUnknown}` };
    case 'at-least':
      return speed.perSecond >= wanted
        ? { kind: 'enough' }
        : {
            kind: 'unknown',
            detail: `${who} took no longer for the whole answer than for one token, which only proves ${speed.perSecond} tokens/s, ${soUnknown}`,
          };
    case 'measured': {
      const measured = `${placement} gives ${speed.perSecond} tokens/s; the file expects ${wanted}.`;
      return speed.perSecond < wanted ? { kind: 'too-slow', measured } : { kind: 'enough' };
    }
  }
}

const whyUnknown = {
  'not-counted': 'does not report its token count',
  'one-token': 'gave only one token, which has no measurable speed',
} as const;

/** The measurement as a sentence, with a hint if it differs from that of the code. */
interface Slowness {
  readonly measured: string;
  readonly hint?: Prose;
}

async function slownessOf(
  { node, peers, act: { placement: name } }: StepOf<'prove'>,
  context: StepContext,
  { measured, hint }: Slowness,
): Promise<Diagnostic> {
  const { desired, observeMs, newBoundary } = context;
  const own = desired.placements.find((one) => one.name === name);
  const placement = own === undefined ? undefined : layoutOn(own, [node, ...peers]);
  const runtime = desired.runtimes.find((one) => one.name === placement?.runtime);
  const fields = { subject: placementSubject(name), ...given({ hint }) };
  if (placement === undefined || runtime === undefined) {
    return diagnose('mesh/too-slow', { ...fields, detail: measured });
  }
  const sessions = placement.nodes.map((node) => context.session(node));
  const { nodes } = await observeSessions(sessions, { deadlineMs: observeMs, newBoundary, isQuiet: true });
  const why = slowWords(placement, desired, nodes, driverOf(runtime));
  const known = why.length === 0 ? ['Its network shows no cause.'] : why;
  return diagnose('mesh/too-slow', { ...fields, detail: [measured, ...known].join(' ') });
}
