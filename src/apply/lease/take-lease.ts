import { type LeaseClaim, stealLeaseScript, takeLeaseScript } from '../../engine/scripts/lease.ts';
import type { SeenLease } from '../../engine/scripts/lease-answer.ts';
import { pause } from '../pause.ts';
import type { Session } from '../reach/session.ts';
import type { LeaseHolder } from '../run-report.ts';
import type { RunTiming } from '../run-timing.ts';
import { type Controller, hasEnded } from './controller.ts';
import { askForLease, holderOf, type TakeAnswer } from './lease-ask.ts';

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
export type Taken =
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
