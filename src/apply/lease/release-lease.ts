import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { NonEmpty } from '../../diagnostics/fleet-error.ts';
import { releaseLeaseScript } from '../../engine/scripts/lease.ts';
import type { Session } from '../reach/session.ts';
import type { LeaseHolder } from '../run-report.ts';
import { keepLease } from './lease-ask.ts';
import { type LeaseWish, takeLease } from './take-lease.ts';

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
