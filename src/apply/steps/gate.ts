import { diagnose, type GeneralCode } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { factsWithoutAnswer } from '../../engine/observe/facts.ts';
import { seenValues } from '../../engine/plan/view.ts';
import { canonicalJson, type Json } from '../../model/digest.ts';
import type { Known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText } from '../../model/probe.ts';
import type { Patch, Patience, Step } from '../../model/step.ts';
import { nodeSubject, placementSubject, type Subject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { askCommand, parseAskAnswer } from '../../node/endpoint/ask-endpoint.ts';
import { judgeToken, notAskedStatus } from '../../node/endpoint/judge-answer.ts';
import { inFlightOf } from '../../rack/placement/mesh/gateway-steps.ts';
import { furthest, hasProgressed } from '../../rack/placement/mesh/start-mesh.ts';
import {
  parseRankProgress,
  type RankProgress,
  rankProgressCommand,
} from '../../rack/placement/observed/rank-log-script.ts';
import { propertyKey } from '../../rack/resource.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { observeSessions } from '../reach/observe.ts';
import type { Session } from '../reach/session.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf } from './context.ts';
import { leadersFinalLine } from './rank-words.ts';
import { firstTokenText, loadingText } from './start-phase.ts';

/**
 * Observes nodes until one observation shows all expected values. A value to abort at, a lost node or the deadline
 * fails the gate with a diagnostic that shows both values. It sends only the probes that decide these values, and asks
 * no endpoint for a token: an endpoint may open before all ranks have joined and would delay every observation.
 */
export async function runGate(step: StepOf<'gate'>, context: StepContext): Promise<StepResult> {
  const { act } = step;
  const { expect, aborts } = act;
  const nodes = [...new Set([step.node, ...step.peers, ...[...expect, ...aborts].map(({ node }) => node)])];
  const sessions = nodes.map((node) => context.session(node));
  const observe = startObserving(step, sessions, context);
  const patience = startPatience(step, context);
  while (!context.signal.aborted) {
    const seen = await observe();
    const missing = expect.filter((patch) => !isSeen(seen, patch));
    if (missing.length === 0) return { outcome: 'unchanged', diagnostics: [] };
    const hit = aborts.find((patch) => isSeen(seen, patch));
    if (hit) return failed(abortedGate(hit, missing, seen));
    const isLost = sessions.some((session) => session.isLost());
    if (isLost || patience.leftMs() <= 0) return failed(...missing.map((patch) => disagreement(patch, seen)));
    const ranks = { joined: expect.length - missing.length, all: expect.length };
    const isStart = act.patience !== undefined;
    context.progress({ text: isStart ? loadingText(ranks, patience.time()) : waitText(missing, seen) });
    await patience.check();
    await pause(context.timing.gatePollMs, context.signal);
  }
  return interrupted;
}

/** Observes only the facts that decide the values of a gate. Reading one of them may show that others decide too. */
function startObserving({ resource, act }: StepOf<'gate'>, sessions: readonly Session[], context: StepContext) {
  const { desired, observeMs: deadlineMs, newBoundary } = context;
  const wanted = { kind: resource, keys: [...new Set([...act.expect, ...act.aborts].map(propertyKey))] };
  const unasked = factsWithoutAnswer('not-asked', 'The gate has not observed it yet.');
  const nothing = Object.fromEntries(sessions.map(({ node }) => [node, { node, facts: unasked }]));
  let { facts } = seenValues(desired, { nodes: nothing, failures: {} }, wanted);
  return async (): Promise<Seen> => {
    for (;;) {
      const asked = facts;
      const seen = seenValues(
        desired,
        await observeSessions(sessions, { deadlineMs, newBoundary, facts: [...asked], isQuiet: true }),
        wanted,
      );
      facts = new Set([...asked, ...seen.facts]);
      if (facts.size === asked.size || sessions.some((session) => session.isLost())) return seen.values;
    }
  };
}

type Seen = ReadonlyMap<string, Known<Json>>;

const seenAt = (seen: Seen, patch: Patch): Known<Json> =>
  seen.get(propertyKey(patch)) ?? { kind: 'unknown', reason: 'not-asked', detail: 'The node has no such property.' };

function isSeen(seen: Seen, patch: Patch): boolean {
  const now = seenAt(seen, patch);
  return now.kind === 'known' && canonicalJson(now.value) === canonicalJson(patch.value);
}

const waitText = ([first, ...others]: readonly Patch[], seen: Seen): string => {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const value = seenAt(seen, first);
  return `${inFlightText(first, value) ?? `${first.address} on ${first.node} is ${shown(value)}`}${more}`;
};

/** The requests that a drain waits for: `2 requests in flight to kimi`; undefined for any other wait. */
function inFlightText(patch: Patch, now: Known<Json>): string | undefined {
  const placement = inFlightOf(patch);
  if (placement === undefined || now.kind === 'unknown' || typeof now.value !== 'number') return undefined;
  return `${now.value} ${now.value === 1 ? 'request' : 'requests'} in flight to ${placement}`;
}

const shown = (seen: Known<Json>): string =>
  seen.kind === 'known' ? valueText(seen.value) : `unknown (${seen.reason}: ${seen.detail})`;

/** `exited (generation 3)` for a rank or placement, otherwise the value. */
function valueText(value: Json): string {
  if (typeof value === 'string') return value;
  const { state, generation } = Object(value);
  if (typeof state !== 'string') return canonicalJson(value);
  return generation === undefined ? state : `${state} (generation ${generation})`;
}

/** What a different value of this kind means, where waiting longer or another run cannot help. */
const lastingFindings: Readonly<Record<string, GeneralCode>> = { 'gid-index': 'placement/gid-index' };

function disagreement(patch: Patch, seen: Seen): Diagnostic {
  const inFlight = stillInFlight(patch, seenAt(seen, patch));
  if (inFlight !== undefined) return inFlight;
  const isKnown = seenAt(seen, patch).kind === 'known';
  const code = isKnown ? (lastingFindings[patch.about.kind] ?? 'gate/not-reached') : 'gate/not-seen';
  return diagnose(code, fields(patch, seen));
}

/** The finding of a drain whose deadline is over; undefined for other waits, or if the count is unknown. */
function stillInFlight(patch: Patch, now: Known<Json>): Diagnostic | undefined {
  const text = inFlightText(patch, now);
  if (text === undefined) return undefined;
  return diagnose('endpoint/still-in-flight', {
    subject: nodeSubject(patch.node),
    detail: prose`${text} on ${named(patch.node)}.`,
    hint: prose`Wait longer: ${meshwright('drain', inFlightOf(patch) ?? '', '--deadline', '10m')}. Stopping the placement now would cut them off.`,
  });
}

const fields = (patch: Patch, seen: Seen): { readonly subject: Subject; readonly detail: string } => ({
  subject: nodeSubject(patch.node),
  detail: `${patch.address} on ${patch.node}: expected ${valueText(patch.value)}, found ${shown(seenAt(seen, patch))}.`,
});

/** The value that can no longer become the expected one, with the values that the gate waited for. */
function abortedGate(hit: Patch, missing: readonly Patch[], seen: Seen): Diagnostic {
  return diagnose('gate/aborted', {
    subject: nodeSubject(hit.node),
    detail: prose`${hit.address} on ${named(hit.node)} is ${shown(seenAt(seen, hit))}.`,
    related: missing.map((patch) => diagnose('gate/not-reached', fields(patch, seen))),
  });
}

type Ask = StepOf<'ask'>;

type TokenOutcome =
  | { readonly kind: 'token'; readonly tookMs: number }
  /** `isRefused`: the endpoint answered with an error status. */
  | { readonly kind: 'none'; readonly reason: string; readonly isRefused?: boolean };

/**
 * Requests a token from a placement's endpoint, on its own node, until one arrives or the deadline is over. Requests
 * change nothing, so they are repeated, one at a time. A request stays open while its ranks make progress, because
 * cutting it off would restart the load. If the token took longer than the file allows, the load may be the reason: a
 * second token must then arrive in time. The wait ends early if the endpoint repeats an error and its rank's log says
 * that it will never answer.
 */
export async function runAsk(step: Ask, context: StepContext): Promise<StepResult> {
  const session = context.session(step.node);
  const patience = startPatience(step, context);
  let reason = 'no request was sent';
  while (!context.signal.aborted) {
    if (patience.leftMs() <= 0 || session.isLost()) break;
    const answer = await askWhile(step, context, patience);
    if (answer.kind === 'token') return await judgeTime(step, context, answer.tookMs);
    const isRepeated = answer.isRefused === true && answer.reason === reason;
    reason = answer.reason;
    const final = isRepeated ? await leadersFinalLine(context, step.act.placement, step.node) : undefined;
    if (final !== undefined) return noToken(step, reason, final);
    if (patience.isGone()) break;
    context.progress({ text: firstTokenText(patience.time(), reason) });
    await patience.check();
    await pause(Math.min(context.timing.gatePollMs, Math.max(1, patience.leftMs())), context.signal);
  }
  return context.signal.aborted ? interrupted : noToken(step, reason);
}

/** Characters shown of a log line. */
const shownCharacters = 400;

const noToken = ({ node, act: { placement } }: Ask, reason: string, final?: string): StepResult => {
  const words = final === undefined ? '' : ` Its log has "${escapeText(final.slice(0, shownCharacters))}".`;
  return failed(
    diagnose('ask/no-token', {
      subject: placementSubject(placement),
      detail: prose`${placement} on ${named(node)} gave no token: ${reason}.${words}`,
      ...(final === undefined ? {} : { hint: prose`Repair what the log names: ${meshwright('logs', placement)}` }),
    }),
  );
};

/** A loaded mesh must give a token within the time in the file. */
async function judgeTime(step: Ask, context: StepContext, tookMs: number): Promise<StepResult> {
  const limitMs = promisedMs(step, context);
  if (tookMs <= limitMs) return { outcome: 'unchanged', diagnostics: [] };
  context.progress({ text: 'the first token was slow; requesting another' });
  const again = await askOnce(step.act, context.session(step.node), limitMs, context.signal);
  if (context.signal.aborted) return interrupted;
  if (again.kind === 'token') return { outcome: 'unchanged', diagnostics: [] };
  const seconds = Math.round(tookMs / 1_000);
  return noToken(
    step,
    `the first token took ${seconds} s, and no second one came within the file's time limit: ${again.reason}`,
  );
}

/** A server may keep a request open while it loads; the request ends when the ranks stop making progress. */
async function askWhile(
  step: Ask,
  context: StepContext,
  patience: ReturnType<typeof startPatience>,
): Promise<TokenOutcome> {
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
    context.progress({ text: firstTokenText(patience.time()) });
    await patience.check();
    await wait();
  }
  if (isAnswered) return await asked;
  ending.abort();
  await over;
  const why = patience.isGone() ? 'the processes of a rank are gone' : 'its ranks made no progress';
  return { kind: 'none', reason: `the endpoint did not answer, and ${why}` };
}

/** Answers are short. A longer one is cut off and fails to parse as JSON. */
const maxBytes = 262_144;

async function askOnce(
  { placement, port, path, request, pointer, countPointer, isOne }: Ask['act'],
  session: Session,
  limitMs: number,
  signal: AbortSignal,
): Promise<TokenOutcome> {
  const none = (reason: string): TokenOutcome => ({ kind: 'none', reason });
  const beganMs = performance.now();
  const deadlineSeconds = Math.max(0.1, Math.round(limitMs / 100) / 10);
  const answer = await session.ask((rootPrefix) => ({
    name: 'ask',
    command: askCommand({ placement, port, path, isOne: isOne === true, deadlineSeconds, rootPrefix }),
    // curl has its own deadline; this later one catches a node on which curl hangs.
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
  if (judged.kind === 'token') return { kind: 'token', tookMs };
  const isRefused = heard.status >= 400 && heard.status !== notAskedStatus;
  return { kind: 'none', reason: judged.reason, isRefused };
}

/** A step that waits for ranks. Without `patience` only its deadline limits the wait. */
interface WaitingStep extends Step {
  readonly act: Step['act'] & { readonly patience?: Patience };
}

/**
 * How long to wait for one step, from now on.
 *
 * @returns `leftMs`: time left without progress; `boundMs`: time left in any case; `time`: the time of this wait and its
 * deadline; `isGone`: whether a rank lost all its memory, so its processes are gone; `check`: observes the ranks' progress
 */
function startPatience(step: WaitingStep, context: StepContext) {
  const { patience } = step.act;
  const boundMs = deadlineOf(step, context);
  const stallMs = patience === undefined ? boundMs : Math.max(promisedMs(step, context), leastStallMs(step, context));
  const beganMs = performance.now();
  const limitMs = Math.max(boundMs, stallMs);
  const endMs = beganMs + limitMs;
  let isGone = false;
  let movedAtMs = performance.now();
  const ranks = new Map<NodeName, RankProgress>();
  const nodes = [step.node, ...step.peers];
  const leftMs = (): number => Math.min(endMs, movedAtMs + stallMs) - performance.now();
  const checkRank = async (placement: string, node: NodeName): Promise<void> => {
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
    time: () => ({ spentMs: performance.now() - beganMs, limitMs }),
    boundMs: () => endMs - performance.now(),
    isGone: () => isGone,
    check: async () => {
      if (patience === undefined) return;
      await Promise.all(nodes.map((node) => checkRank(patience.placement, node)));
    },
  };
}

/** The file's time limit for the first token of a loaded mesh, scaled to the run's clock. */
const promisedMs = (step: WaitingStep, context: Pick<StepContext, 'timing'>): number =>
  deadlineOf({ ...step, deadlineMs: step.act.patience?.stallMs ?? step.deadlineMs }, context);

/** @see docs/mesh.md: start deadlines */
const leastStallMs = ({ act }: Step, { timing }: StepContext): number =>
  act.kind === 'ask' ? timing.tokenStallMs : timing.gateStallMs;
