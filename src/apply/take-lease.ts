import { type LeaseClaim, type SeenLease, stealLeaseScript, takeLeaseScript } from '../script/lease.ts';
import { type Controller, processStart } from './controller.ts';
import { askForLease, holderOf, type TakeAnswer } from './lease-ask.ts';
import { pause } from './pause.ts';
import type { LeaseHolder } from './run-report.ts';
import type { RunTiming } from './run-timing.ts';
import type { Session } from './session.ts';

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
  /** Told as soon as somebody else is seen to hold it, and when they turn out to be gone. */
  readonly onHolder: (holder: LeaseHolder, isExpired: boolean) => void;
}

/** How a lease was asked for. */
export type Taken =
  | Exclude<TakeAnswer, { kind: 'held' }>
  | { readonly kind: 'refused'; readonly holder: LeaseHolder }
  | { readonly kind: 'interrupted' };

/**
 * Takes the lease of a node. Somebody else's is watched: when its beat moves, its owner lives and the lease is refused
 * once the time to wait is over; when it stands still for so long by our own clock, or when its owner was a process of
 * this very computer that has ended, exactly that lease is taken over.
 */
export async function takeLease(session: Session, wish: LeaseWish): Promise<Taken> {
  const { claim, timing, askMs, signal } = wish;
  const startedAtMs = performance.now();
  const take = (): Promise<TakeAnswer> => askUntilHeard(session, askMs, (root) => takeLeaseScript(root, claim));
  const steal = (seen: SeenLease): Promise<TakeAnswer> => {
    wish.onHolder(holderOf(seen), true);
    return askUntilHeard(session, askMs, (root) => stealLeaseScript(root, claim, seen));
  };
  let answer = await take();
  let watched: Watched | undefined;
  while (answer.kind === 'held') {
    const { lease } = answer;
    // The answer to an earlier attempt was lost on its way: it is ours already.
    if (lease.run === claim.run && lease.token !== undefined) return { kind: 'taken', token: lease.token };
    if (!watched) wish.onHolder(holderOf(lease), false);
    watched = watch(watched, lease, performance.now());
    const isWaitOver = performance.now() - startedAtMs >= wish.waitMs;
    if (watched.isAlive && isWaitOver) return { kind: 'refused', holder: holderOf(lease) };
    if (isExpired(watched, timing) || (await isDeadHere(lease, wish.controller))) {
      answer = await steal(lease);
      continue;
    }
    await pause(timing.leaseLookMs, signal);
    if (signal?.aborted) return { kind: 'interrupted' };
    answer = await take();
  }
  return answer;
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
}

function watch(before: Watched | undefined, lease: SeenLease, nowMs: number): Watched {
  if (before === undefined) return { lease, sinceMs: nowMs, isAlive: false };
  const { run, token, beat } = before.lease;
  const isSame = run === lease.run && token === lease.token && beat === lease.beat;
  return isSame ? before : { lease, sinceMs: nowMs, isAlive: true };
}

const isExpired = ({ sinceMs }: Watched, { leaseExpiryMs }: RunTiming): boolean =>
  performance.now() - sinceMs >= leaseExpiryMs;

/** Whether the owner was a process of this computer that does not run any more, or whose number is somebody else's now. */
async function isDeadHere({ fields }: SeenLease, controller: Controller): Promise<boolean> {
  const pid = Number(fields['pid']);
  if (fields['controller'] !== controller.id || !Number.isSafeInteger(pid) || pid <= 0) return false;
  const start = await processStart(pid);
  return start === undefined || (fields['start'] !== 'unknown' && start !== fields['start']);
}
