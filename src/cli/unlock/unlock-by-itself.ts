import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownIdentity } from '../../apply/lease/controller.ts';
import { interruption } from '../../apply/reach/session.ts';
import {
  type NodeUnlock,
  readShownKey,
  type ShownKey,
  trustIn,
  type UnlockAttempts,
  type Unlocked,
  unlockNode,
} from '../../apply/unlock-node.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode, UnlockReadiness } from '../../model/desired.ts';
import { jsonObject, parsedJson } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import type { Secret } from '../../model/secret.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { lookupName } from '../../remote/remote.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import type { SshTargets, TrustedTarget } from '../cluster/ssh-targets.ts';
import { stateFolder } from '../files/places.ts';
import { readIfThere } from '../files/read-file.ts';
import { replaceFile, useFileAlone, writingTo } from '../files/write-file.ts';
import { observeLimits } from '../look/observe-fleet.ts';
import { secretContext } from '../sources/secrets.ts';
import { timingFor } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** A recorded attempt: its time, and whether the node rejected the last password. Contains no part of the password. */
interface Attempt {
  readonly atEpochMs: number;
  /** How much longer the attempt can run; 0 after its end. */
  readonly mostMs: number;
  readonly isRefused: boolean;
}

/** The attempts of all runs on this controller, one file per address. */
export interface RecordedAttempts extends UnlockAttempts {
  /** Creates the folder for these files. @throws FleetError `cli/cannot-write` */
  readonly open: () => void;
  /** True if this address rejected the last password and has not been observed unlocked since. */
  readonly wasRefused: (address: string) => boolean;
}

/** Opens the records of unlock attempts in the state folder. */
export function openUnlockAttempts(env: NodeJS.ProcessEnv, pauseMs: number): RecordedAttempts {
  const folder = join(stateFolder(env), 'unlock');
  const open = (): void =>
    writingTo(folder, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.W_OK);
    });
  const pathOf = (address: string): string =>
    join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 16)}.json`);
  const wasRefused = (address: string): boolean => readAttempt(pathOf(address))?.isRefused === true;
  const write = (path: string, attempt: Attempt): void => replaceFile(path, `${JSON.stringify(attempt)}\n`, 0o600);
  return {
    open,
    take: async (address, mostMs) => {
      open();
      const path = pathOf(address);
      return useFileAlone(path, () => {
        const now = Date.now();
        const last = readAttempt(path);
        const most = (last?.mostMs ?? 0) + pauseMs;
        const left = last === undefined ? 0 : last.atEpochMs + most - now;
        // A time further in the future was recorded by a wrong clock.
        if (left > 0 && left <= most) return left;
        write(path, { atEpochMs: now, mostMs, isRefused: last?.isRefused === true });
        return 0;
      });
    },
    ended: (address, how) => {
      const path = pathOf(address);
      return useFileAlone(path, () => {
        const isRefused = how === 'unknown' ? wasRefused(address) : how === 'refused';
        write(path, { atEpochMs: Date.now(), mostMs: 0, isRefused });
      });
    },
    seenUp: async (address) => {
      const path = pathOf(address);
      if (!wasRefused(address)) return;
      await useFileAlone(path, () => {
        const last = readAttempt(path);
        if (last !== undefined) write(path, { ...last, isRefused: false });
      });
    },
    wasRefused,
  };
}

function readAttempt(path: string): Attempt | undefined {
  try {
    const { atEpochMs, mostMs, isRefused } = jsonObject(parsedJson(readIfThere(path, path)?.text ?? '')) ?? {};
    if (typeof atEpochMs !== 'number') return undefined;
    return { atEpochMs, mostMs: typeof mostMs === 'number' ? mostMs : 0, isRefused: isRefused === true };
  } catch {
    return undefined;
  }
}

interface About {
  readonly fleet: Pick<DesiredFleet, 'nodes'>;
  readonly ways: SshTargets;
}

const failed = (diagnostic: Diagnostic): Unlocked => ({ kind: 'failed', isSent: false, diagnostic });
const noSource = (node: string, detail: string): Unlocked =>
  failed(diagnose('unlock/no-source', { subject: nodeSubject(node), detail }));

/** Unlocks a Mac as part of another command: needs a pinned key, and a password from a source without a prompt. */
export function unlockWithoutPerson(run: Run, { fleet, ways }: About): NodeUnlock {
  const timing = timingFor(run);
  const attempts = openUnlockAttempts(run.env, timing.unlockPauseMs);
  return async (name, { signal, onProgress }) => {
    const node = fleet.nodes.find((one) => one.name === name);
    const secret = await passwordOf(run, name, { fleet, ways });
    if (node === undefined || secret === undefined)
      return noSource(name, `No password for ${name} is available without a prompt.`);
    const settled = { kind: 'way' as const, ...(await ways.settle(node)) };
    const address = lookupName(settled.target.host, settled.target.port);
    if (attempts.wasRefused(address)) {
      const detail = prose`${named(name)} rejected the last password it was sent.`;
      return failed(diagnose('unlock/refused-before', { subject: nodeSubject(name), detail }));
    }
    const limits = { ...observeLimits(run), signal };
    const shown = await readShownKey(settled, limits).catch(unlessAboutNode);
    if (signal.aborted) return failed(interruption(name));
    // The Mac may still be starting, so the caller tries again.
    if (shown === undefined) return { kind: 'later' };
    if (!isPinned(settled, shown)) return noSource(name, `The key that ${name} shows at FileVault is not pinned.`);
    const trust = trustIn(settled.target, shown.key);
    const one = { node: node.name, way: settled, trust, password: secret };
    const extra = { attempts, timing, onProgress: (_node: string, text: string) => onProgress(text) };
    const result = await unlockNode(one, { ...limits, ...extra });
    return isPassing(result) ? { kind: 'later' } : result;
  };
}

/** Requires a pinned FileVault key, as the plan does. The normal sshd's key is then accepted too. */
const isPinned = ({ trust }: TrustedTarget, { verdict }: ShownKey): boolean =>
  verdict.kind === 'preboot' || (verdict.kind === 'accepted' && trust.knowsPreboot);

/** True for a temporary failure before which nothing was sent. */
const isPassing = (result: Unlocked): boolean =>
  result.kind === 'failed' && !result.isSent && hasTrait(result.diagnostic, 'passing');

/** Returns undefined for a connection failure and throws any other error. */
export function unlessAboutNode(error: unknown): undefined {
  if (error instanceof FleetError) return undefined;
  throw error;
}

/** The same by name. */
export async function passwordOf(run: Run, name: NodeName, { fleet, ways }: About): Promise<Secret | undefined> {
  const node = fleet.nodes.find((one) => one.name === name);
  return node && quietSecret(run, node, ways.clusterFile);
}

/** A node's password, if it is available without a prompt. */
async function quietSecret(run: Run, node: DesiredNode, clusterFile: string): Promise<Secret | undefined> {
  if (node.password === undefined || node.password.kind === 'prompt') return undefined;
  const subject = nodeSubject(node.name);
  const context = secretContext(run, { subject, folder: dirname(clusterFile), question: '' });
  const resolved = await resolveSecret(node.password, context);
  return resolved.kind === 'resolved' ? resolved.secret : undefined;
}

/** Whether this run can unlock each node at FileVault by itself. Contacts no node. */
export async function unlockReadiness(run: Run, { fleet, ways }: About): Promise<Pick<DesiredFleet, 'unlocks'>> {
  const attempts = openUnlockAttempts(run.env, timingFor(run).unlockPauseMs);
  const own = await ownIdentity();
  const readinessOf = async (node: DesiredNode): Promise<UnlockReadiness> => {
    if (node.password === undefined || node.password.kind === 'prompt') return 'no-source';
    const settled = await ways.settle(node).catch(unlessAboutNode);
    if (settled && attempts.wasRefused(lookupName(settled.target.host, settled.target.port))) return 'refused';
    if ((await quietSecret(run, node, ways.clusterFile)) === undefined) return 'no-password';
    if (own !== undefined && node.identity === own) return 'this-computer';
    return settled?.trust.knowsPreboot === true ? 'ready' : 'no-key';
  };
  const unlocks: Record<string, UnlockReadiness> = {};
  for (const node of fleet.nodes) unlocks[node.name] = await readinessOf(node);
  return { unlocks };
}
