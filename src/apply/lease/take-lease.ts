import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import {
  type LeaseClaim,
  readLeaseAnswer,
  releaseLeaseScript,
  type SeenLease,
  stealLeaseScript,
  takeLeaseScript,
} from '../../engine/scripts/lease.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { leaseLostExit, type ScriptEnd } from '../../node/root-script.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { diagnoseExit, printedText } from '../../remote/remote.ts';
import { askRoot, type Session } from '../reach/session.ts';
import type { LeaseHolder } from '../run-report.ts';
import { pause, type RunTiming } from '../run-timing.ts';
import { type Controller, hasEnded } from './controller.ts';

/** What taking a lease needs to know. */
export interface LeaseWish {
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
  /** Told as soon as somebody else is seen to hold it, and when they turn out to be gone. */
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
 * Takes the lease of a node. Somebody else's is watched: when its beat moves, its owner lives and the lease is refused
 * once the time to wait is over; when it stands still for so long by our own clock, or when its owner was a process of
 * this very computer that has ended, exactly that lease is taken over, as soon as no script runs under it any more.
 */
export async function takeLease(session: Session, wish: LeaseWish): Promise<Taken> {
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

/** A lease that is nobody's is stolen; a script that hangs under it is not waited for without end. */
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
  /** Nobody can hold it for us: the node is not reached, or root is refused. */
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

/** What has been seen of somebody else's lease. */
interface Watched {
  readonly lease: SeenLease;
  /** Since when it looks like this, by our own clock that only goes forward. */
  readonly sinceMs: number;
  /** Whether it was seen to move: then somebody renews it. */
  readonly isAlive: boolean;
  /** Nobody renews it any more. */
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
  /** Nobody held it when it was looked at, or its own run has given it back meanwhile. */
  | { readonly kind: 'free' }
  /** Its holder renewed it while it was watched. */
  | { readonly kind: 'alive'; readonly holder: LeaseHolder }
  /** Somebody else's, or an answer that nobody heard. */
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

/** The lease of a node that somebody else holds, as a problem. */
export const leaseHeld = (node: NodeName, { owner, verb, phase, since, run }: LeaseHolder): Diagnostic =>
  diagnose('lease/held', {
    subject: nodeSubject(node),
    detail: prose`${owner} holds the lease of ${named(node)} since ${since}: meshwright ${verb}, at ${phase} (run ${run}).`,
  });
