import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
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
import { askRoot, type Session } from '../reach/session.ts';
import { pause, type RunTiming } from '../run-timing.ts';
import type { Hold } from '../steps/context.ts';
import { type Controller, hasEnded } from './controller.ts';

/** What taking a lease needs to know. */
interface LeaseWish {
  readonly claim: LeaseClaim;
  readonly controller: Controller;
  readonly timing: RunTiming;
  /** How long a living owner is waited for. */
  readonly waitMs: number;
  /** Of one question to the node. */
  readonly askMs: number;
  readonly signal?: AbortSignal;
  /** The boot session in which the node was observed; absent where it is unknown. */
  readonly bootSession?: string;
  /** Called as soon as a different run is seen to have the lease, and when that run turns out to be gone. */
  readonly onHolder: (holder: LeaseHolder, isExpired: boolean) => void;
}

/** How a lease was asked for. */
type Taken =
  /** `isInDoubt` when another run had it before, or the node has restarted: what was seen before may not hold any more. */
  | { readonly kind: 'taken'; readonly token: number; readonly isInDoubt: boolean }
  | Extract<TakeAnswer, { kind: 'failed' }>
  | { readonly kind: 'refused'; readonly holder: LeaseHolder }
  | { readonly kind: 'interrupted' };

/**
 * Takes the lease of a node. The lease of a different run is watched: when its beat moves, its owner lives and the lease is refused
 * once the time to wait is over; when it stands still for so long by our own clock, or when its owner was a process of
 * this very computer that has ended, exactly that lease is taken over, as soon as no script runs under it any more.
 */
async function takeLease(session: Session, wish: LeaseWish): Promise<Taken> {
  const { claim, timing, askMs, signal } = wish;
  const startedAtMs = performance.now();
  let answer = await askUntilHeard(session, askMs, (root) => takeLeaseScript(root, claim));
  let watched: Watched | undefined;
  while (answer.kind === 'held') {
    const { lease } = answer;
    // The answer to an earlier attempt was lost on its way: it is ours already.
    if (lease.run === claim.run && lease.token !== undefined) {
      return { kind: 'taken', token: lease.token, isInDoubt: watched !== undefined };
    }
    if (!watched) wish.onHolder(holderOf(lease), false);
    watched = await watch(watched, lease, wish);
    const isWaitOver = performance.now() - startedAtMs >= wish.waitMs;
    if (watched.isAlive && isWaitOver) return { kind: 'refused', holder: holderOf(lease) };
    if (watched.isNobodys && !watched.isTold) wish.onHolder(holderOf(lease), true);
    answer = await askAgain(session, wish, watched);
    watched = { ...watched, isTold: watched.isNobodys };
    if (answer.kind === 'held') await pause(timing.leaseLookMs, signal);
    if (signal?.aborted) return { kind: 'interrupted' };
  }
  if (answer.kind !== 'taken') return answer;
  const hasRestarted = answer.bootSession !== '' && answer.bootSession !== (wish.bootSession ?? answer.bootSession);
  return { kind: 'taken', token: answer.token, isInDoubt: watched !== undefined || hasRestarted };
}

/** A lease without an owner is stolen; a script that hangs under it is not waited for without end. */
function askAgain(session: Session, { claim, timing, askMs }: LeaseWish, watched: Watched): Promise<TakeAnswer> {
  const { lease, isNobodys, sinceMs } = watched;
  const isPatient = performance.now() - sinceMs < timing.leaseExpiryMs + timing.busyMs;
  return askUntilHeard(session, askMs, (root) =>
    isNobodys ? stealLeaseScript(root, claim, lease, isPatient) : takeLeaseScript(root, claim),
  );
}

/** An answer that broke off is asked for again while the node can be reached: what was taken shows our own run then. */
async function askUntilHeard(...about: Parameters<typeof askForLease>): Promise<TakeAnswer> {
  const [session] = about;
  const answer = await askForLease(...about);
  const isUnheard = answer.kind === 'failed' && answer.diagnostics[0].code === 'ssh/dropped';
  return isUnheard && !session.isLost() ? askUntilHeard(...about) : answer;
}

/** How one attempt to take a lease came out. */
type TakeAnswer =
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  /** The lease cannot be taken: the node is not reached, or root is refused. */
  | { readonly kind: 'failed'; readonly diagnostics: NonEmpty<Diagnostic> };

const maxBytes = 65_536;

/** Sends a script that takes or steals a lease. */
async function askForLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<TakeAnswer> {
  const sent = await askRoot(session, { name: 'take-lease', deadlineMs, maxBytes }, script);
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

/** What was seen of the lease of a different run. */
interface Watched {
  readonly lease: SeenLease;
  /** Since when it looks like this, by our own clock that only goes forward. */
  readonly sinceMs: number;
  /** Whether its beat moved: then its run renews it. */
  readonly isAlive: boolean;
  /** Its run renews it no more. */
  readonly isNobodys: boolean;
  /** That was told. */
  readonly isTold: boolean;
}

async function watch(before: Watched | undefined, lease: SeenLease, wish: LeaseWish): Promise<Watched> {
  const { run, token, beat } = before?.lease ?? {};
  const isSame = before !== undefined && run === lease.run && token === lease.token && beat === lease.beat;
  const sinceMs = isSame ? before.sinceMs : performance.now();
  const isExpired = performance.now() - sinceMs >= wish.timing.leaseExpiryMs;
  const isNobodys = isExpired || (await isDeadHere(lease, wish.controller));
  const hasMoved = before !== undefined && !isSame;
  return {
    lease,
    sinceMs,
    isAlive: !isNobodys && (hasMoved || before?.isAlive === true),
    isNobodys,
    isTold: isSame && before.isTold,
  };
}

/** Whether the owner was a process of this computer that has ended: certain only where its number means the same here. */
async function isDeadHere({ fields }: SeenLease, controller: Controller): Promise<boolean> {
  const pid = Number(fields['pid']);
  const isNumber = Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
  return fields['controller'] === controller.id && isNumber && (await hasEnded(pid, fields['start'] ?? 'unknown'));
}

/** Who holds a lease, in words. */
function holderOf({ fields }: SeenLease): LeaseHolder {
  const text = (key: string): string => escapeText(fields[key] ?? 'unknown');
  return { run: text('run'), owner: text('owner'), verb: text('verb'), phase: text('phase'), since: text('since') };
}

/** Sends a script that renews or releases a lease; `unheard` is neither yes nor no. */
export async function keepLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<'kept' | 'lost' | 'unheard'> {
  const sent = await askRoot(session, { name: 'keep-lease', deadlineMs, maxBytes }, script);
  if (sent.kind === 'unreached' || sent.result.exit.kind !== 'exited') return 'unheard';
  const { code } = sent.result.exit;
  if (code === leaseLostExit) return 'lost';
  return code === 0 ? 'kept' : 'unheard';
}

/** How releasing the lease of a node came out. */
export type Released =
  | { readonly kind: 'released' }
  /** It was free when it was checked, or its own run has given it back since. */
  | { readonly kind: 'free' }
  /** Its holder renewed it while it was watched. */
  | { readonly kind: 'alive'; readonly holder: LeaseHolder }
  /** That of a different run, or an answer that did not arrive. */
  | { readonly kind: 'not-this-run' }
  | { readonly kind: 'unheard' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly diagnostics: NonEmpty<Diagnostic> };

/**
 * Releases a lease whose holder is proven to be dead: it is taken over, which a living holder prevents, and given back.
 * Takes as long as a lease needs to expire.
 */
export async function releaseDeadLease(
  session: Session,
  wish: Omit<LeaseWish, 'onHolder' | 'waitMs'>,
): Promise<Released> {
  let hadHolder = false;
  const onHolder = (): void => {
    hadHolder = true;
  };
  const taken = await takeLease(session, { ...wish, waitMs: 0, onHolder });
  if (taken.kind === 'refused') return { kind: 'alive', holder: taken.holder };
  if (taken.kind !== 'taken') return taken;
  const fence = { run: wish.claim.run, token: taken.token };
  const kept = await keepLease(session, wish.askMs, (root) => releaseLeaseScript(root, fence));
  if (kept !== 'kept') return { kind: 'unheard' };
  return { kind: hadHolder ? 'released' : 'free' };
}

/** Releases exactly the lease of this run and token, alive or dead: its next script on the node is turned away. */
export async function releaseLeaseOf(
  session: Session,
  fence: { readonly run: string; readonly token: number },
  askMs: number,
): Promise<Released> {
  const kept = await keepLease(session, askMs, (root) => releaseLeaseScript(root, fence));
  if (kept === 'kept') return { kind: 'released' };
  return { kind: kept === 'lost' ? 'not-this-run' : 'unheard' };
}

/** The lease of a node that a different run has, as a problem. */
export const leaseHeld = (node: NodeName, { owner, verb, phase, since, run }: LeaseHolder): Diagnostic =>
  diagnose('lease/held', {
    subject: nodeSubject(node),
    detail: prose`${owner} holds the lease of ${named(node)} since ${since}: meshwright ${verb}, at ${phase} (run ${run}).`,
  });

/** What became of a lease, for the journal and for whoever watches. */
export interface LeaseChange {
  readonly node: NodeName;
  readonly phase: 'taken' | 'waiting' | 'expired' | 'refused' | 'lost' | 'released';
  readonly token?: number;
  readonly holder?: LeaseHolder;
}

/** What a keeper needs. */
interface KeeperOptions extends Omit<LeaseWish, 'onHolder' | 'bootSession'> {
  readonly session: (node: NodeName) => Session;
  readonly onChange: (change: LeaseChange) => void;
}

/** How taking the leases of some nodes went. Nodes that were not reached are no refusal: they hold nothing. */
type TakeAll =
  /** `isInDoubt` when another run had one of them before, or a node has restarted since it was observed. */
  | { readonly kind: 'taken'; readonly isInDoubt: boolean }
  | { readonly kind: 'refused'; readonly refusals: readonly LeaseRefusal[] }
  | { readonly kind: 'interrupted' };

/** Boot sessions by node; null when unknown. */
type ObservedSessions = Readonly<Record<string, { readonly bootSession: string | null }>>;

/** Holds the leases of a run and renews them. */
export interface LeaseKeeper {
  /**
   * Takes those that are not held yet, one after another by name; with one refused, all that are held are given back.
   * `observed` has the boot sessions in which the nodes were observed.
   */
  readonly take: (nodes: readonly NodeName[], observed?: ObservedSessions) => Promise<TakeAll>;
  readonly hold: (node: NodeName) => Hold;
  /** A script was turned away: somebody else has it. */
  readonly lose: (node: NodeName) => void;
  readonly suspend: (node: NodeName) => void;
  readonly resume: (node: NodeName) => Promise<void>;
  /** What the run is at; whoever meets a lease of it reads this. */
  readonly setPhase: (phase: string) => void;
  /** Gives every lease back that is held, and renews none any more. */
  readonly release: () => Promise<void>;
  /** Aborted as soon as one lease is lost. */
  readonly lost: AbortSignal;
}

/** One lease that is held. */
interface Held {
  readonly token: number;
  readonly stop: AbortController;
  isSuspended: boolean;
  /** The phase that its owner file has. */
  phase: string;
}

interface Keeping {
  readonly options: KeeperOptions;
  readonly held: Map<NodeName, Held>;
  readonly failures: Map<NodeName, Extract<Hold, { kind: 'none' }>>;
  readonly lost: AbortController;
  phase: string;
}

/** A keeper that holds nothing yet. */
export function createLeaseKeeper(options: KeeperOptions): LeaseKeeper {
  const lost = new AbortController();
  const keeping: Keeping = { options, held: new Map(), failures: new Map(), lost, phase: options.claim.phase };
  return {
    take: (nodes, observed = {}) => takeAll(keeping, nodes, observed),
    hold: (node) => holdOf(keeping, node),
    lose: (node) => lose(keeping, node),
    suspend: (node) => {
      const one = keeping.held.get(node);
      if (one) one.isSuspended = true;
    },
    resume: async (node) => {
      const one = keeping.held.get(node);
      if (one) one.isSuspended = false;
      if (one) await renew(keeping, node, one);
    },
    setPhase: (phase) => {
      keeping.phase = phase;
    },
    release: () => releaseAll(keeping),
    lost: lost.signal,
  };
}

function holdOf({ held, failures }: Keeping, node: NodeName): Hold {
  const one = held.get(node);
  if (one) return { kind: 'held', token: one.token };
  const failure = failures.get(node);
  if (!failure) throw new Error(`no lease was asked for on ${node}`);
  return failure;
}

async function takeAll(keeping: Keeping, nodes: readonly NodeName[], observed: ObservedSessions): Promise<TakeAll> {
  const { held, failures, options } = keeping;
  let isInDoubt = false;
  for (const node of [...nodes].sort()) {
    if (held.has(node)) continue;
    const onHolder = (holder: LeaseHolder, isExpired: boolean): void =>
      options.onChange({ node, phase: isExpired ? 'expired' : 'waiting', holder });
    const bootSession = observed[node]?.bootSession ?? undefined;
    const taken = await takeLease(options.session(node), {
      ...options,
      onHolder,
      ...given({ bootSession }),
    });
    if (taken.kind === 'failed') failures.set(node, { kind: 'none', diagnostics: taken.diagnostics });
    if (taken.kind === 'failed') continue;
    if (taken.kind !== 'taken') await releaseAll(keeping);
    if (taken.kind === 'interrupted') return taken;
    if (taken.kind === 'refused') {
      options.onChange({ node, phase: 'refused', holder: taken.holder });
      return { kind: 'refused', refusals: [{ node, holder: taken.holder }] };
    }
    const one: Held = { token: taken.token, stop: new AbortController(), isSuspended: false, phase: keeping.phase };
    held.set(node, one);
    isInDoubt ||= taken.isInDoubt;
    void keepRenewing(keeping, node, one);
    options.onChange({ node, phase: 'taken', token: taken.token });
  }
  return { kind: 'taken', isInDoubt };
}

async function keepRenewing(keeping: Keeping, node: NodeName, one: Held): Promise<void> {
  const { signal } = one.stop;
  while (!signal.aborted) {
    await pause(keeping.options.timing.beatMs, signal);
    if (!signal.aborted && !one.isSuspended) await renew(keeping, node, one);
  }
}

/** A renewal that was not heard is no loss: the node itself turns away whoever does not hold it. */
async function renew(keeping: Keeping, node: NodeName, one: Held): Promise<void> {
  const { options, phase } = keeping;
  const fence = { run: options.claim.run, token: one.token };
  const script = (root: string): string => renewLeaseScript(root, fence, one.phase === phase ? undefined : phase);
  const answer = await keepLease(options.session(node), options.askMs, script);
  if (answer === 'kept') one.phase = phase;
  if (answer === 'lost' && !one.stop.signal.aborted && !one.isSuspended) lose(keeping, node);
}

function lose(keeping: Keeping, node: NodeName): void {
  const one = keeping.held.get(node);
  if (!one) return;
  one.stop.abort();
  keeping.held.delete(node);
  keeping.lost.abort();
  keeping.options.onChange({ node, phase: 'lost', token: one.token });
}

async function releaseAll({ held, options }: Keeping): Promise<void> {
  const all = [...held];
  held.clear();
  for (const [, one] of all) one.stop.abort();
  await Promise.all(
    all.map(async ([node, { token, isSuspended }]) => {
      // A Mac that was switched off, or did not come back, keeps a lease that nobody renews.
      if (isSuspended || options.session(node).isLost()) return;
      const fence = { run: options.claim.run, token };
      const script = (root: string): string => releaseLeaseScript(root, fence);
      if ((await keepLease(options.session(node), options.askMs, script)) === 'kept') {
        options.onChange({ node, phase: 'released', token });
      }
    }),
  );
}

/** Who holds the lease of a node, as its owner file has it. */
export interface LeaseHolder {
  readonly run: string;
  /** User and host of the controller, such as `ana@desk.lan`. */
  readonly owner: string;
  /** What was typed there: `apply`. */
  readonly verb: string;
  /** What it was at when it last renewed: the id of a step, or `starting`. */
  readonly phase: string;
  /** ISO time, by the clock of its controller. */
  readonly since: string;
}

/** A node whose lease a different run has and keeps renewing. */
export interface LeaseRefusal {
  readonly node: NodeName;
  readonly holder: LeaseHolder;
}
