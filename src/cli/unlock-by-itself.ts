import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { lookAtDoor, trustIn } from '../apply/preboot-door.ts';
import { type NodeUnlock, type Unlocked, unlockNode } from '../apply/unlock-node.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { type Secret, secretSourceText } from '../model/secret.ts';
import { lookupName } from '../remote/address.ts';
import { resolveSecret } from '../secrets/resolve-secret.ts';
import { secretContext } from './secrets.ts';
import { timingFor } from './timing.ts';
import { openUnlockAttempts } from './unlock-attempts.ts';
import type { Run } from './verb.ts';
import type { Ways } from './ways.ts';

interface About {
  readonly fleet: Pick<DesiredFleet, 'nodes'>;
  readonly ways: Ways;
}

const failed = (node: string, detail: string): Unlocked => ({
  kind: 'failed',
  diagnostic: diagnose('unlock/no-source', { subject: `node ${node}`, detail }),
});

/**
 * Unlocks a Mac as part of something else: only with a source that the file names and that asks nobody, at a key that
 * is pinned already, and not after a password that was refused.
 */
export function unlockWithoutPerson(run: Run, { fleet, ways }: About): NodeUnlock {
  const timing = timingFor(run);
  const attempts = openUnlockAttempts(run.env, timing.unlockPauseMs);
  return async (name, { signal, onProgress }) => {
    const node = fleet.nodes.find((one) => one.name === name);
    const secret = node === undefined ? undefined : await quietSecret(run, node, ways.clusterFile);
    if (node === undefined || secret === undefined) return failed(name, `No password of ${name} resolves by itself.`);
    const settled = { kind: 'way' as const, ...(await ways.settle(node)) };
    const address = lookupName(settled.target.host, settled.target.port);
    if (attempts.wasRefused(address)) {
      const detail = `${name} refused the password that it was given last.`;
      return { kind: 'failed', diagnostic: diagnose('unlock/refused-before', { subject: `node ${name}`, detail }) };
    }
    const { deadline: deadlineMs } = run.options;
    const door = await lookAtDoor(settled, { deadlineMs, signal }).catch(unlessAboutNode);
    const verdict = door?.kind === 'locked' ? door.shown.verdict.kind : undefined;
    if (door?.kind !== 'locked' || (verdict !== 'accepted' && verdict !== 'preboot')) {
      return failed(name, `The key that ${name} shows at FileVault is not pinned.`);
    }
    const trust = trustIn(settled.target, door.shown.key);
    const one = { node: node.name, way: settled, trust, password: secret };
    const newToken = (): string => randomBytes(16).toString('hex');
    return unlockNode(one, {
      attempts,
      deadlineMs,
      timing,
      newToken,
      signal,
      onProgress: (_node, text) => onProgress(text),
    });
  };
}

function unlessAboutNode(error: unknown): undefined {
  if (error instanceof FleetError) return undefined;
  throw error;
}

/** The password of a node when nobody has to be asked for it. */
async function quietSecret(run: Run, node: DesiredNode, clusterFile: string): Promise<Secret | undefined> {
  if (node.password === undefined || node.password.kind === 'prompt') return undefined;
  const subject = `node ${node.name}`;
  const context = secretContext(run, { subject, folder: dirname(clusterFile), question: '' });
  const resolved = await resolveSecret(node.password, context);
  return resolved.kind === 'resolved' ? resolved.secret : undefined;
}

/**
 * Which of these nodes would be unlocked without a person after a restart, each with where its password comes from, in
 * words. Looks at the sources and at nothing else.
 */
export async function unlockedByItself(
  run: Run,
  nodes: readonly DesiredNode[],
  {
    clusterFile,
    isPinned,
  }: { readonly clusterFile: string; readonly isPinned: (node: DesiredNode) => Promise<boolean> },
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const node of nodes) {
    const { password } = node;
    if (password === undefined || (await quietSecret(run, node, clusterFile)) === undefined) continue;
    if (await isPinned(node)) found.set(node.name, secretSourceText(password));
  }
  return found;
}
