import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { NodeName } from '../model/node.ts';
import type { Secret } from '../model/secret.ts';
import { lookupName } from '../remote/address.ts';
import type { HostKeyTrust } from '../remote/host-key-trust.ts';
import { unlockWithPassword } from '../remote/password-login.ts';
import { observeFleet } from './observe.ts';
import { pause } from './pause.ts';
import type { RunTiming } from './run-timing.ts';
import { interruption, type Way } from './with-remote.ts';

/** What the controller remembers of passwords that it gave to Macs at FileVault, over all of its runs. */
export interface UnlockAttempts {
  /** 0: the attempt is written down and may begin. Else the milliseconds until one may. */
  readonly take: (address: string) => Promise<number>;
  /** Writes down that it is over: only then the time to the next one begins to run. */
  readonly ended: (address: string, isRefused: boolean) => Promise<void>;
}

/** One Mac that waits at FileVault, and what it is to be given. */
export interface UnlockOne {
  readonly node: NodeName;
  readonly way: Extract<Way, { kind: 'way' }>;
  /** In the key that it shows while it is locked. */
  readonly trust: HostKeyTrust;
  readonly password: Secret;
}

/** Bounds of unlocking, and who is told. */
export interface UnlockLimits {
  readonly attempts: UnlockAttempts;
  /** Of one connection. */
  readonly deadlineMs: number;
  readonly timing: RunTiming;
  readonly newToken: () => string;
  readonly signal: AbortSignal;
  readonly onProgress?: (node: NodeName, text: string) => void;
}

/** How it came out: `unlocked` only when the Mac itself was observed afterwards. */
export type Unlocked =
  | { readonly kind: 'unlocked'; readonly session: string }
  | { readonly kind: 'not-locked' }
  | { readonly kind: 'failed'; readonly diagnostic: Diagnostic };

/** Unlocks one Mac without a person: with a source that the file names, at a key that is pinned. */
export type NodeUnlock = (
  node: NodeName,
  about: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void },
) => Promise<Unlocked>;

const failed = (diagnostic: Diagnostic): Unlocked => ({ kind: 'failed', diagnostic });

/** Gives one Mac its FileVault password, once, not sooner than allowed, and waits until it can be observed. */
export async function unlockNode(one: UnlockOne, limits: UnlockLimits): Promise<Unlocked> {
  const { target } = one.way;
  const address = lookupName(target.host, target.port);
  await turn(one.node, address, limits);
  const { signal, deadlineMs } = limits;
  if (signal.aborted) return failed(interruption(one.node));
  const answer = await unlockWithPassword({ target, trust: one.trust, password: one.password }, { deadlineMs, signal });
  await limits.attempts.ended(address, answer.kind === 'refused');
  // An interrupted attempt says nothing about the node.
  if (signal.aborted) return failed(interruption(one.node));
  if (answer.kind === 'refused' || answer.kind === 'unreached') return failed(answer.diagnostic);
  if (answer.kind === 'not-locked') return answer;
  return awaitReturn(one, answer.kind === 'unlocked', limits);
}

async function turn(node: NodeName, address: string, limits: UnlockLimits): Promise<void> {
  const { attempts, signal, onProgress } = limits;
  for (;;) {
    const waitMs = signal.aborted ? 0 : await attempts.take(address);
    if (waitMs === 0) return;
    onProgress?.(node, `waits ${Math.ceil(waitMs / 1_000)} s: its last attempt was a moment ago`);
    await pause(waitMs, signal);
  }
}

async function awaitReturn({ node, way }: UnlockOne, isSaid: boolean, limits: UnlockLimits): Promise<Unlocked> {
  const { timing, deadlineMs, newToken, signal } = limits;
  limits.onProgress?.(node, isSaid ? 'unlocked; starts macOS' : 'took the password; nobody knows yet');
  const endMs = performance.now() + timing.unlockReturnMs;
  let last: readonly Diagnostic[] = [];
  for (let at = 0; performance.now() < endMs; at += 1) {
    const { rebootPausesMs } = timing;
    await pause(rebootPausesMs[Math.min(at, rebootPausesMs.length - 1)] ?? 0, signal);
    if (signal.aborted) return failed(interruption(node));
    const look = { deadlineMs, parallel: 1, newToken, signal, facts: ['boot-session'] as const };
    const { nodes, failures } = await observeFleet([{ node, way }], look);
    const session = nodes[node]?.facts['boot-session'];
    if (session?.kind === 'known') return { kind: 'unlocked', session: session.value.uuid };
    last = failures[node] ?? [];
  }
  const isLocked = last.some(({ code }) => code === 'ssh/locked-at-filevault');
  const detail = isLocked
    ? `${node} took the password${isSaid ? ' and said that it is unlocked' : ''}, and is still locked.`
    : `${node} took the password and was not seen since.`;
  return failed(
    diagnose(isLocked ? 'unlock/still-locked' : 'unlock/no-return', { subject: `node ${node}`, detail, related: last }),
  );
}
