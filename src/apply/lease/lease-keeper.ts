import { releaseLeaseScript, renewLeaseScript } from '../../engine/scripts/lease.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { Session } from '../reach/session.ts';
import type { LeaseHolder, LeaseRefusal } from '../run-report.ts';
import { pause } from '../run-timing.ts';
import type { Hold } from '../steps/context.ts';
import { keepLease, type LeaseWish, takeLease } from './take-lease.ts';

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
