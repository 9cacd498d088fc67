import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { seenProperties } from '../../engine/plan/view.ts';
import { canonicalJson, type Json } from '../../model/digest.ts';
import type { Known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText } from '../../model/probe.ts';
import type { Patch, Patience, Step } from '../../model/step.ts';
import { nodeSubject, placementSubject, type Subject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { askCommand, parseAskAnswer } from '../../node/endpoint/ask-endpoint.ts';
import { judgeToken } from '../../node/endpoint/judge-answer.ts';
import { insideOf } from '../../rack/placement/endpoint/doors.ts';
import { parseRankProgress, type RankProgress, rankProgressCommand } from '../../rack/placement/observed/rank-log.ts';
import { furthest, hasProgressed } from '../../rack/placement/start/start-mesh.ts';
import { propertyKey } from '../../rack/resource.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { observeSessions } from '../reach/observe.ts';
import type { Session } from '../reach/session.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';

/**
 * Observes its nodes afresh until all that it expects is seen at once. A value that it is told to abort at, a lost node
 * or its deadline end it, and the difference is a diagnostic with both values. No endpoint is asked: one may open before
 * all ranks are there, and would keep every look waiting.
 */
export async function runGate(step: StepOf<'gate'>, context: StepContext): Promise<StepResult> {
  const { expect, aborts } = step.act;
  const nodes = [...new Set([step.node, ...step.peers, ...[...expect, ...aborts].map(({ node }) => node)])];
  const sessions = nodes.map((node) => context.session(node));
  const patience = startPatience(step, context);
  while (!context.signal.aborted) {
    const seen = await look(sessions, context);
    const missing = expect.filter((patch) => !isSeen(seen, patch));
    if (missing.length === 0) return { outcome: 'unchanged', diagnostics: [] };
    const hit = aborts.find((patch) => isSeen(seen, patch));
    if (hit) return failed(hopeless(hit, missing, seen));
    const isLost = sessions.some((session) => session.isLost());
    if (isLost || patience.leftMs() <= 0) return failed(...missing.map((patch) => disagreement(patch, seen)));
    context.progress({ text: waitText(missing, seen) });
    await patience.look();
    await pause(context.timing.gatePollMs, context.signal);
  }
  return interrupted;
}

async function look(sessions: readonly Session[], { desired, lookMs, newToken }: StepContext): Promise<Seen> {
  return seenProperties(desired, await observeSessions(sessions, { deadlineMs: lookMs, newToken, isQuiet: true }));
}

type Seen = ReadonlyMap<string, Known<Json>>;

const seenAt = (seen: Seen, patch: Patch): Known<Json> =>
  seen.get(propertyKey(patch)) ?? {
    kind: 'unknown',
    reason: 'not-asked',
    detail: 'Nothing on the node has this name.',
  };

function isSeen(seen: Seen, patch: Patch): boolean {
  const now = seenAt(seen, patch);
  return now.kind === 'known' && canonicalJson(now.value) === canonicalJson(patch.value);
}

const waitText = ([first, ...others]: readonly Patch[], seen: Seen): string => {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const value = seenAt(seen, first);
  return `${insideText(first, value) ?? `${first.address} on ${first.node} is ${shown(value)}`}${more}`;
};

/** How many are still inside a placement that is waited for: `2 inside kimi`; undefined for any other wait. */
function insideText(patch: Patch, now: Known<Json>): string | undefined {
  const placement = insideOf(patch);
  if (placement === undefined || now.kind === 'unknown' || typeof now.value !== 'number') return undefined;
  return `${now.value} inside ${placement}`;
}

const shown = (seen: Known<Json>): string =>
  seen.kind === 'known' ? canonicalJson(seen.value) : `unknown (${seen.reason}: ${seen.detail})`;

function disagreement(patch: Patch, seen: Seen): Diagnostic {
  const inside = stillInside(patch, seenAt(seen, patch));
  if (inside !== undefined) return inside;
  const isKnown = seenAt(seen, patch).kind === 'known';
  const code = isKnown ? 'gate/not-reached' : 'gate/not-seen';
  return diagnose(code, fields(patch, seen));
}

/** That somebody is still inside when the time is over; undefined where it was not waited for that, or not seen. */
function stillInside(patch: Patch, now: Known<Json>): Diagnostic | undefined {
  const told = insideText(patch, now);
  if (told === undefined) return undefined;
  return diagnose('endpoint/still-inside', {
    subject: nodeSubject(patch.node),
    detail: prose`${told} on ${named(patch.node)}.`,
    hint: prose`Wait longer: ${meshwright('drain', insideOf(patch) ?? '', '--deadline', '10m')}. What is done now cuts them off.`,
  });
}

const fields = (patch: Patch, seen: Seen): { readonly subject: Subject; readonly detail: string } => ({
  subject: nodeSubject(patch.node),
  detail: `${patch.address} on ${patch.node}: expected ${canonicalJson(patch.value)}, seen ${shown(seenAt(seen, patch))}.`,
});

/** The value that cannot become the expected one any more, with what was waited for. */
function hopeless(hit: Patch, missing: readonly Patch[], seen: Seen): Diagnostic {
  return diagnose('gate/aborted', {
    subject: nodeSubject(hit.node),
    detail: prose`${hit.address} on ${named(hit.node)} is ${shown(seenAt(seen, hit))}.`,
    related: missing.map((patch) => diagnose('gate/not-reached', fields(patch, seen))),
  });
}

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
async function askWhile(step: Ask, context: StepContext, patience: ReturnType<typeof startPatience>): Promise<Asked> {
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
  const { stdout, exit } = printedText(answer.result);
  const heard = parseAskAnswer(stdout);
  if (heard === undefined) return none(`curl on the node gave no answer (${exitText(exit)})`);
  const judged = judgeToken(heard, pointer, countPointer);
  return judged.kind === 'token' ? { kind: 'token', tookMs } : none(judged.reason);
}

/** A step that waits for ranks, and how long without any progress; without that only its deadline counts. */
interface WaitingStep extends Step {
  readonly act: Step['act'] & { readonly patience?: Patience };
}

/**
 * The patience with one step, from now on.
 *
 * @returns `leftMs` until it ends if nothing moves, `boundMs` until it ends however much moves; `isGone` says whether a
 * rank that had memory has none any more (its processes are gone), `look` looks how far the ranks have come
 */
function startPatience(step: WaitingStep, context: StepContext) {
  const { patience } = step.act;
  const boundMs = deadlineOf(step, context);
  const stallMs = patience === undefined ? boundMs : Math.max(promisedMs(step, context), leastStallMs(step, context));
  const endMs = performance.now() + Math.max(boundMs, stallMs);
  let isGone = false;
  let movedAtMs = performance.now();
  const ranks = new Map<NodeName, RankProgress>();
  const nodes = [step.node, ...step.peers];
  const leftMs = (): number => Math.min(endMs, movedAtMs + stallMs) - performance.now();
  const lookAt = async (placement: string, node: NodeName): Promise<void> => {
    const answer = await context.session(node).ask((rootPrefix) => ({
      name: 'rank-progress',
      command: rankProgressCommand(placement, rootPrefix),
      deadlineMs: 5_000,
      maxBytes: 4_096,
    }));
    if (answer.kind === 'unreached') return;
    const now = parseRankProgress(printedText(answer.result).stdout);
    const before = ranks.get(node);
    if (now === undefined) return;
    isGone ||= before !== undefined && before.residentBytes > 0 && now.residentBytes === 0;
    ranks.set(node, before === undefined ? now : furthest(before, now));
    if (before !== undefined && hasProgressed(before, now)) movedAtMs = performance.now();
  };
  return {
    leftMs,
    boundMs: () => endMs - performance.now(),
    isGone: () => isGone,
    look: async () => {
      if (patience === undefined) return;
      await Promise.all(nodes.map((node) => lookAt(patience.placement, node)));
    },
  };
}

/** How long the file gives the first token of a loaded mesh, in the time of this run. */
const promisedMs = (step: WaitingStep, context: Pick<StepContext, 'timing'>): number =>
  deadlineOf({ ...step, deadlineMs: step.act.patience?.stallMs ?? step.deadlineMs }, context);

/** @see docs/mesh.md: how long it is waited for */
const leastStallMs = ({ act }: Step, { timing }: StepContext): number =>
  act.kind === 'ask' ? timing.tokenStallMs : timing.gateStallMs;
