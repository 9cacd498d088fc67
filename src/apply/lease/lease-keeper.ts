import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import {
  type LeaseClaim,
  readLeaseAnswer,
  releaseLeaseScript,
  renewLeaseScript,
  type SeenLease,
  stealLeaseScript,
  takeLeaseScript,
} from '../../engine/scripts/lease.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { leaseLostExit, type ScriptEnd } from '../../node/root-script.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { diagnoseExit, printedText } from '../../remote/remote.ts';
import { rootScript, type Session } from '../reach/session.ts';
import { pause, type RunTiming } from '../run-timing.ts';
import type { OwnLease } from '../steps/context.ts';
import { type Controller, hasEnded } from './controller.ts';

interface LeaseRequest {
  readonly claim: LeaseClaim;
  readonly controller: Controller;
  readonly timing: RunTiming;
  /** How long to wait for a living owner. */
  readonly waitMs: number;
  /** Time limit for one request to the node. */
  readonly askMs: number;
  readonly signal?: AbortSignal;
  /** The boot session of the node's observation; absent if unknown. */
  readonly bootSession?: string;
  /** Called when another run has the lease, and again when that run turns out to be dead. */
  readonly onHolder: (holder: LeaseHolder, isExpired: boolean) => void;
}

type Taken =
  /** `isInDoubt`: another run had it before, or the node has restarted, so the observation may be stale. */
  | { readonly kind: 'taken'; readonly token: number; readonly isInDoubt: boolean }
  | Extract<TakeAnswer, { kind: 'failed' }>
  | { readonly kind: 'refused'; readonly holder: LeaseHolder }
  | { readonly kind: 'interrupted' };

/**
 * Takes a node's lease. If another run has it, watches its heartbeat: while it moves, the owner lives, and the lease is
 * refused after the waiting time. If the heartbeat stops for the expiry time by our clock, or the owner was a process
 * of this computer that has ended, takes over exactly that lease once no script runs under it.
 */
async function takeLease(session: Session, request: LeaseRequest): Promise<Taken> {
  const { claim, timing, askMs, signal } = request;
  const startedAtMs = performance.now();
  let answer = await askUntilHeard(session, askMs, (root) => takeLeaseScript(root, claim));
  let watched: Watched | undefined;
  while (answer.kind === 'held') {
    const { lease } = answer;
    // The answer to an earlier attempt was lost: the lease is already ours.
    if (lease.run === claim.run && lease.token !== undefined) {
      return { kind: 'taken', token: lease.token, isInDoubt: watched !== undefined };
    }
    if (!watched) request.onHolder(holderOf(lease), false);
    watched = await watch(watched, lease, request);
    const isWaitOver = performance.now() - startedAtMs >= request.waitMs;
    if (watched.isAlive && isWaitOver) return { kind: 'refused', holder: holderOf(lease) };
    if (watched.isAbandoned && !watched.isReported) request.onHolder(holderOf(lease), true);
    answer = await askAgain(session, request, watched);
    watched = { ...watched, isReported: watched.isAbandoned };
    if (answer.kind === 'held') await pause(timing.leaseLookMs, signal);
    if (signal?.aborted) return { kind: 'interrupted' };
  }
  if (answer.kind !== 'taken') return answer;
  const hasRestarted = answer.bootSession !== '' && answer.bootSession !== (request.bootSession ?? answer.bootSession);
  return { kind: 'taken', token: answer.token, isInDoubt: watched !== undefined || hasRestarted };
}

/** Steals a lease without a living owner; does not wait forever for a script that hangs under it. */
function askAgain(session: Session, { claim, timing, askMs }: LeaseRequest, watched: Watched): Promise<TakeAnswer> {
  const { lease, isAbandoned, sinceMs } = watched;
  const isPatient = performance.now() - sinceMs < timing.leaseExpiryMs + timing.busyMs;
  return askUntilHeard(session, askMs, (root) =>
    isAbandoned ? stealLeaseScript(root, claim, lease, isPatient) : takeLeaseScript(root, claim),
  );
}

/** Repeats a request whose answer was lost; a lease that the lost request took then counts as our own. */
async function askUntilHeard(...about: Parameters<typeof askForLease>): Promise<TakeAnswer> {
  const [session] = about;
  const answer = await askForLease(...about);
  const isUnheard = answer.kind === 'failed' && hasTrait(answer.diagnostics[0], 'dropped');
  return isUnheard && !session.isLost() ? askUntilHeard(...about) : answer;
}

type TakeAnswer =
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  /** The node was not reached, or sudo was refused. */
  | { readonly kind: 'failed'; readonly diagnostics: NonEmpty<Diagnostic> };

const maxBytes = 65_536;

async function askForLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<TakeAnswer> {
  const sent = await session.ask(rootScript({ name: 'take-lease', deadlineMs, maxBytes }, script));
  if (sent.kind === 'unreached') return { kind: 'failed', diagnostics: sent.diagnostics };
  const end = printedText(sent.result);
  const answer = readLeaseAnswer(end);
  return answer.kind === 'failed' ? { kind: 'failed', diagnostics: [notTaken(session, end, answer.text)] } : answer;
}

function notTaken({ node, user }: Session, { exit, stderr }: ScriptEnd, text: string): Diagnostic {
  const known = diagnoseExit(node, exit) ?? diagnoseSudo(node, user, exit, stderr);
  const detail = prose`${labelled(node)}the lease could not be taken: ${escapeText(text)}.`;
  return known ?? diagnose('lease/not-taken', { subject: nodeSubject(node), detail });
}

interface Watched {
  readonly lease: SeenLease;
  /** Time of its last change, by our own monotonic clock. */
  readonly sinceMs: number;
  /** Whether its heartbeat moved, so that its run is alive. */
  readonly isAlive: boolean;
  /** Its run is dead or no longer renews it. */
  readonly isAbandoned: boolean;
  readonly isReported: boolean;
}

async function watch(before: Watched | undefined, lease: SeenLease, request: LeaseRequest): Promise<Watched> {
  const { run, token, heartbeat } = before?.lease ?? {};
  const isSame = before !== undefined && run === lease.run && token === lease.token && heartbeat === lease.heartbeat;
  const sinceMs = isSame ? before.sinceMs : performance.now();
  const isExpired = performance.now() - sinceMs >= request.timing.leaseExpiryMs;
  const isAbandoned = isExpired || (await isDeadHere(lease, request.controller));
  const hasMoved = before !== undefined && !isSame;
  return {
    lease,
    sinceMs,
    isAlive: !isAbandoned && (hasMoved || before?.isAlive === true),
    isAbandoned,
    isReported: isSame && before.isReported,
  };
}

/** Whether the owner was a process of this computer that has ended; true only if the process table is the same. */
export async function isDeadHere({ fields }: Pick<SeenLease, 'fields'>, controller: Controller): Promise<boolean> {
  const pid = Number(fields['pid']);
  const isNumber = Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
  return fields['controller'] === controller.id && isNumber && (await hasEnded(pid, fields['start'] ?? 'unknown'));
}

function holderOf({ fields }: SeenLease): LeaseHolder {
  const text = (key: string): string => escapeText(fields[key] ?? 'unknown');
  return { run: text('run'), owner: text('owner'), verb: text('verb'), phase: text('phase'), since: text('since') };
}

/** Sends a script that renews or releases a lease; `unheard`: the result is unknown. */
export async function keepLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<'done' | 'lost' | 'unheard'> {
  const sent = await session.ask(rootScript({ name: 'keep-lease', deadlineMs, maxBytes }, script));
  if (sent.kind === 'unreached' || sent.result.exit.kind !== 'exited') return 'unheard';
  const { code } = sent.result.exit;
  if (code === leaseLostExit) return 'lost';
  return code === 0 ? 'done' : 'unheard';
}

export type Released =
  | { readonly kind: 'released' }
  /** It was already free, or its own run released it meanwhile. */
  | { readonly kind: 'free' }
  /** Its owner renewed it during the check. */
  | { readonly kind: 'alive'; readonly holder: LeaseHolder }
  /** `not-this-run`: another run has it. `unheard`: no answer arrived. */
  | { readonly kind: 'not-this-run' }
  | { readonly kind: 'unheard' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly diagnostics: NonEmpty<Diagnostic> };

/** Takes over the lease of a dead run, which a living run prevents, and releases it. May take as long as it lasts. */
export async function releaseDeadLease(
  session: Session,
  request: Omit<LeaseRequest, 'onHolder' | 'waitMs'>,
): Promise<Released> {
  let hadHolder = false;
  const onHolder = (): void => {
    hadHolder = true;
  };
  const taken = await takeLease(session, { ...request, waitMs: 0, onHolder });
  if (taken.kind === 'refused') return { kind: 'alive', holder: taken.holder };
  if (taken.kind !== 'taken') return taken;
  const fence = { run: request.claim.run, token: taken.token };
  const answer = await keepLease(session, request.askMs, (root) => releaseLeaseScript(root, fence));
  if (answer !== 'done') return { kind: 'unheard' };
  return { kind: hadHolder ? 'released' : 'free' };
}

/** Releases exactly the lease of this run and token, alive or dead; the node rejects that run's next script. */
export async function releaseLeaseOf(
  session: Session,
  fence: { readonly run: string; readonly token: number },
  askMs: number,
): Promise<Released> {
  const answer = await keepLease(session, askMs, (root) => releaseLeaseScript(root, fence));
  if (answer === 'done') return { kind: 'released' };
  return { kind: answer === 'lost' ? 'not-this-run' : 'unheard' };
}

export function leaseHeld({ node, holder: { owner, verb, phase, since, run } }: LeaseRefusal): Diagnostic {
  const detail = prose`${owner} has had the lease of ${named(node)} since ${since}: meshwright ${verb}, at ${phase} (run ${run}).`;
  return diagnose('lease/held', { subject: nodeSubject(node), detail });
}

export interface LeaseChange {
  readonly node: NodeName;
  readonly state: 'taken' | 'waiting' | 'expired' | 'refused' | 'lost' | 'released';
  readonly token?: number;
  readonly holder?: LeaseHolder;
}

interface KeeperOptions extends Omit<LeaseRequest, 'onHolder' | 'bootSession'> {
  readonly session: (node: NodeName) => Session;
  readonly onChange: (change: LeaseChange) => void;
}

/** The result of taking leases. Unreached nodes do not count as refusals. */
type TakeAll =
  /** `isInDoubt`: another run had one of them before, or a node has restarted since its observation. */
  | { readonly kind: 'taken'; readonly isInDoubt: boolean }
  | { readonly kind: 'refused'; readonly refusals: readonly LeaseRefusal[] }
  | { readonly kind: 'interrupted' };

/** Boot sessions by node; null when unknown. */
type ObservedSessions = Readonly<Record<string, { readonly bootSession: string | null }>>;

export type LeaseKeeper = ReturnType<typeof createLeaseKeeper>;

interface HeldLease {
  readonly token: number;
  readonly stop: AbortController;
  isSuspended: boolean;
  /** The phase in its owner file. */
  phase: string;
}

interface Keeping {
  readonly options: KeeperOptions;
  readonly leases: Map<NodeName, HeldLease>;
  readonly failures: Map<NodeName, Extract<OwnLease, { kind: 'none' }>>;
  readonly lost: AbortController;
  phase: string;
}

/** Takes a run's leases and renews them. */
export function createLeaseKeeper(options: KeeperOptions) {
  const lost = new AbortController();
  const signal: AbortSignal = lost.signal;
  const keeping: Keeping = { options, leases: new Map(), failures: new Map(), lost, phase: options.claim.phase };
  return {
    /** Takes the missing leases in node order; a refusal releases all. `observed` has the nodes' boot sessions. */
    take: (nodes: readonly NodeName[], observed: ObservedSessions = {}) => takeAll(keeping, nodes, observed),
    lease: (node: NodeName) => leaseOf(keeping, node),
    /** Records that a node rejected a script, because another run has the lease. */
    lose: (node: NodeName) => lose(keeping, node),
    suspend: (node: NodeName): void => {
      const one = keeping.leases.get(node);
      if (one) one.isSuspended = true;
    },
    resume: async (node: NodeName): Promise<void> => {
      const one = keeping.leases.get(node);
      if (one) one.isSuspended = false;
      if (one) await renew(keeping, node, one);
    },
    /** The run's current step, shown to runs that wait for its leases. */
    setPhase: (phase: string): void => {
      keeping.phase = phase;
    },
    release: () => releaseAll(keeping),
    /** Aborted as soon as one lease is lost. */
    lost: signal,
  };
}

function leaseOf({ leases, failures }: Keeping, node: NodeName): OwnLease {
  const one = leases.get(node);
  if (one) return { kind: 'leased', fencingToken: one.token };
  const failure = failures.get(node);
  if (!failure) throw new Error(`no lease was asked for on ${node}`);
  return failure;
}

async function takeAll(keeping: Keeping, nodes: readonly NodeName[], observed: ObservedSessions): Promise<TakeAll> {
  const { leases, failures, options } = keeping;
  let isInDoubt = false;
  for (const node of [...nodes].sort()) {
    if (leases.has(node)) continue;
    const onHolder = (holder: LeaseHolder, isExpired: boolean): void =>
      options.onChange({ node, state: isExpired ? 'expired' : 'waiting', holder });
    const bootSession = observed[node]?.bootSession ?? undefined;
    const taken = await takeLease(options.session(node), { ...options, onHolder, ...given({ bootSession }) });
    if (taken.kind === 'failed') failures.set(node, { kind: 'none', diagnostics: taken.diagnostics });
    if (taken.kind === 'failed') continue;
    if (taken.kind !== 'taken') await releaseAll(keeping);
    if (taken.kind === 'interrupted') return taken;
    if (taken.kind === 'refused') {
      options.onChange({ node, state: 'refused', holder: taken.holder });
      return { kind: 'refused', refusals: [{ node, holder: taken.holder }] };
    }
    const one: HeldLease = {
      token: taken.token,
      stop: new AbortController(),
      isSuspended: false,
      phase: keeping.phase,
    };
    leases.set(node, one);
    isInDoubt ||= taken.isInDoubt;
    void keepRenewing(keeping, node, one);
    options.onChange({ node, state: 'taken', token: taken.token });
  }
  return { kind: 'taken', isInDoubt };
}

async function keepRenewing(keeping: Keeping, node: NodeName, one: HeldLease): Promise<void> {
  const { signal } = one.stop;
  while (!signal.aborted) {
    await pause(keeping.options.timing.heartbeatMs, signal);
    if (!signal.aborted && !one.isSuspended) await renew(keeping, node, one);
  }
}

/** A renewal without an answer is not a loss: the node itself rejects scripts without the lease. */
async function renew(keeping: Keeping, node: NodeName, one: HeldLease): Promise<void> {
  const { options, phase } = keeping;
  const fence = { run: options.claim.run, token: one.token };
  const script = (root: string): string => renewLeaseScript(root, fence, one.phase === phase ? undefined : phase);
  const answer = await keepLease(options.session(node), options.askMs, script);
  if (answer === 'done') one.phase = phase;
  if (answer === 'lost' && !one.stop.signal.aborted && !one.isSuspended) lose(keeping, node);
}

function lose(keeping: Keeping, node: NodeName): void {
  const one = keeping.leases.get(node);
  if (!one) return;
  one.stop.abort();
  keeping.leases.delete(node);
  keeping.lost.abort();
  keeping.options.onChange({ node, state: 'lost', token: one.token });
}

async function releaseAll({ leases, options }: Keeping): Promise<void> {
  const all = [...leases];
  leases.clear();
  for (const [, one] of all) one.stop.abort();
  await Promise.all(
    all.map(async ([node, { token, isSuspended }]) => {
      // A Mac that is off or did not come back keeps the lease, which then expires.
      if (isSuspended) return;
      if (await released(options, node, token)) options.onChange({ node, state: 'released', token });
    }),
  );
}

/** Releases a lease. A node that was lost, or whose answer was, gets one more connection, unless the run was aborted. */
async function released({ session: sessionOf, claim, askMs, signal }: KeeperOptions, node: NodeName, token: number) {
  const session = sessionOf(node);
  const script = (root: string): string => releaseLeaseScript(root, { run: claim.run, token });
  const first = session.isLost() ? 'unheard' : await keepLease(session, askMs, script);
  if (first !== 'unheard' || signal?.aborted) return first === 'done';
  session.forget();
  return (await keepLease(session, askMs, script)) === 'done';
}

/** The owner of a node's lease, from its owner file; `phase` is its step at the last phase change, or `starting`. */
export type LeaseHolder = Pick<LeaseClaim, 'run' | 'owner' | 'verb' | 'phase' | 'since'>;

export interface LeaseRefusal {
  readonly node: NodeName;
  readonly holder: LeaseHolder;
}
