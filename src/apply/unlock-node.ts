import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, hasTrait } from '../diagnostics/diagnostic.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import type { Secret } from '../model/secret.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import { bootSessionFact } from '../rack/boot/fact.ts';
import { read } from '../rack/fact.ts';
import { fetchHostKey } from '../remote/connect.ts';
import { type HostKeyTrust, trustFor } from '../remote/keys/host-key-trust.ts';
import { seeWhetherLocked, unlockWithPassword } from '../remote/keys/password-login.ts';
import { lookupName, type RemoteListener, type Target } from '../remote/remote.ts';
import { observeFleet } from './reach/observe.ts';
import { interruption, type OpenTarget, type SshTarget, type UseLimits } from './reach/session.ts';
import { pause, type RunTiming, rebootPauseMs } from './run-timing.ts';

/** The key that a node shows now, its fingerprint `SHA256:…`, and its trust. */
export type ShownKey = Awaited<ReturnType<typeof readHostKey>>;

/**
 * Reads a node's host key without logging in.
 * @throws FleetError with one `ssh/…` code, or `run/interrupted` if the signal stopped the attempt
 */
export async function readHostKey(way: OpenTarget, limits: UseLimits) {
  const { deadlineMs, signal, onRemote } = limits;
  const asked = { deadlineMs, ...given({ signal, onRemote }) };
  const { fingerprint, ...key } = await fetchHostKey(way.target, asked, way.trust.algorithms).catch(
    (error: unknown) => {
      // An interrupted attempt is not evidence about the node.
      throw signal?.aborted === true ? new FleetError([interruption(way.target.label)]) : error;
    },
  );
  const verdict = way.trust.judge(Buffer.from(key.base64, 'base64'));
  onRemote?.({ kind: 'host-key', node: way.target.label, verdict: verdict.kind, fingerprint });
  return { key, fingerprint, verdict };
}

/**
 * The key that a Mac shows if it is waiting at FileVault, otherwise undefined. Sends only the account name.
 * @throws FleetError with one `ssh/…` code
 */
export async function readShownKey(way: OpenTarget, limits: UseLimits): Promise<ShownKey | undefined> {
  const shown = await readHostKey(way, limits);
  const { deadlineMs, signal, onRemote } = limits;
  const asked = { deadlineMs, ...given({ signal, onRemote }) };
  const state = await seeWhetherLocked({ target: way.target, trust: trustIn(way.target, shown.key) }, asked);
  return state.kind === 'locked' ? shown : undefined;
}

/** The key of a Mac that is waiting at FileVault; `problems` explain why the Mac was not reached. */
export async function keyIfLocked(
  way: SshTarget,
  problems: readonly Diagnostic[],
  limits: UseLimits,
): Promise<ShownKey | undefined> {
  if (way.kind !== 'way' || !problems.some((one) => hasTrait(one, 'maybe-locked'))) return undefined;
  try {
    return await readShownKey(way, limits);
  } catch (error) {
    if (error instanceof FleetError) return undefined;
    throw error;
  }
}

export const trustIn = (target: Target, key: HostKey): HostKeyTrust =>
  trustFor(target, {
    knownHosts: [],
    lock: { file: '', hostKeys: { [lookupName(target.host, target.port)]: [{ ...key, line: 1 }] } },
  });

/** The controller's record of FileVault password attempts, across all its runs. */
export interface UnlockAttempts {
  /** 0 when the attempt may begin; it is then recorded as running for at most `mostMs`. Otherwise the ms until then. */
  readonly take: (address: string, mostMs: number) => Promise<number>;
  /** Records the end of the attempt. `unknown`: nothing was sent, or the answer was not understood. */
  readonly ended: (address: string, how: 'unlocked' | 'refused' | 'unknown') => Promise<void>;
  /** Records that the Mac is unlocked, which clears earlier refusals. */
  readonly seenUp: (address: string) => Promise<void>;
}

interface UnlockOne {
  readonly node: NodeName;
  readonly way: OpenTarget;
  /** Trust in its preboot key. */
  readonly trust: HostKeyTrust;
  readonly password: Secret;
}

interface UnlockLimits {
  readonly attempts: UnlockAttempts;
  /** The deadline for one connection. */
  readonly deadlineMs: number;
  readonly timing: RunTiming;
  readonly newBoundary: () => string;
  readonly signal: AbortSignal;
  readonly onProgress?: (node: NodeName, text: string) => void;
  readonly onRemote?: RemoteListener;
}

/** The result; `unlocked` only if the Mac was observed afterwards. */
export type Unlocked =
  | { readonly kind: 'unlocked'; readonly session: string }
  | { readonly kind: 'not-locked' }
  /** `isSent`: the password was sent to the Mac. */
  | { readonly kind: 'failed'; readonly isSent: boolean; readonly diagnostic: Diagnostic };

/**
 * Unlocks one Mac unattended, with the password source in the file and a pinned preboot key. `later`: the Mac cannot be
 * reached right now, and nothing was sent.
 */
export type NodeUnlock = (
  node: NodeName,
  about: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void },
) => Promise<Unlocked | { readonly kind: 'later' }>;

const unsent = (diagnostic: Diagnostic): Unlocked => ({ kind: 'failed', isSent: false, diagnostic });
const sent = (diagnostic: Diagnostic): Unlocked => ({ kind: 'failed', isSent: true, diagnostic });

/** The maximum time of an attempt: one deadline each for connection and login, and time to read the last messages. */
const mostOf = (deadlineMs: number): number => 2 * deadlineMs + 5_000;

/** Sends a Mac its FileVault password once, no earlier than allowed, and waits until the Mac can be observed. */
export async function unlockNode(one: UnlockOne, limits: UnlockLimits): Promise<Unlocked> {
  const { target } = one.way;
  const address = lookupName(target.host, target.port);
  const { attempts, signal, deadlineMs, onRemote } = limits;
  const login = { target, trust: one.trust, password: one.password };
  if (!(await turn(one.node, address, limits))) return unsent(interruption(one.node));
  const answer = await unlockWithPassword(login, { deadlineMs, signal, ...given({ onRemote }) });
  await attempts.ended(address, answer.kind === 'refused' || answer.kind === 'unlocked' ? answer.kind : 'unknown');
  // An interrupted attempt is not evidence about the node.
  if (signal.aborted) return unsent(interruption(one.node));
  if (answer.kind === 'refused') return sent(answer.diagnostic);
  if (answer.kind === 'unreached') return unsent(answer.diagnostic);
  const result = answer.kind === 'not-locked' ? answer : await awaitReturn(one, answer.kind === 'unlocked', limits);
  if (result.kind !== 'failed') await attempts.seenUp(address);
  return result;
}

/** Waits until an attempt may begin; false if aborted. Checks often, because other runs can finish early. */
async function turn(node: NodeName, address: string, limits: UnlockLimits): Promise<boolean> {
  const { attempts, signal, onProgress, timing } = limits;
  for (let at = 0; !signal.aborted; at += 1) {
    const waitMs = await attempts.take(address, mostOf(limits.deadlineMs));
    if (waitMs === 0) return true;
    if (at === 0) onProgress?.(node, `waiting ${Math.ceil(waitMs / 1_000)} s after the last attempt`);
    await pause(Math.min(waitMs, timing.unlockPauseMs), signal);
  }
  return false;
}

async function awaitReturn({ node, way }: UnlockOne, isSaid: boolean, limits: UnlockLimits): Promise<Unlocked> {
  const { timing, deadlineMs, newBoundary, signal, onRemote } = limits;
  limits.onProgress?.(node, isSaid ? 'unlocked; macOS is starting' : 'password sent; result not known yet');
  const endMs = performance.now() + timing.unlockReturnMs;
  let last: readonly Diagnostic[] = [];
  for (let at = 0; performance.now() < endMs; at += 1) {
    await pause(rebootPauseMs(timing, at), signal);
    if (signal.aborted) return sent(interruption(node));
    const about = { parallel: 1, newBoundary, facts: ['boot-session'] as const };
    const options = { deadlineMs, signal, ...given({ onRemote }), ...about };
    const { nodes, failures } = await observeFleet([{ node, way }], options);
    const session = read(nodes[node]?.facts, bootSessionFact);
    if (session?.kind === 'known') return { kind: 'unlocked', session: session.value.uuid };
    last = failures[node] ?? [];
    const changed = last.find((one) => hasTrait(one, 'changed-key'));
    // Waiting does not turn a changed key into the pinned one.
    if (changed !== undefined) return sent({ ...changed, subject: nodeSubject(node) });
  }
  const isLocked = last.some((one) => hasTrait(one, 'locked'));
  const detail = isLocked
    ? prose`${named(node)} accepted the password${isSaid ? ' and reported that it is unlocked' : ''}, but is still locked.`
    : prose`${named(node)} accepted the password and has not answered since.`;
  return sent(
    diagnose(isLocked ? 'unlock/still-locked' : 'unlock/no-return', {
      subject: nodeSubject(node),
      detail,
      related: last,
    }),
  );
}
