import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { ShownKey } from '../../apply/access/enroll-node.ts';
import { lookAtDoor, trustIn } from '../../apply/access/preboot-door.ts';
import { type NodeUnlock, type Unlocked, unlockNode } from '../../apply/access/unlock-node.ts';
import { interruption } from '../../apply/reach/with-remote.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { type Secret, secretSourceText } from '../../model/secret.ts';
import { nodeSubject, subjectNodes } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { lookupName } from '../../remote/address.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import type { Settled, Ways } from '../cluster/ways.ts';
import { secretContext } from '../sources/secrets.ts';
import { timingFor } from '../terminal/timing.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run } from '../verb/verb.ts';
import { openUnlockAttempts } from './unlock-attempts.ts';

interface About {
  readonly fleet: Pick<DesiredFleet, 'nodes'>;
  readonly ways: Ways;
}

const failed = (diagnostic: Diagnostic): Unlocked => ({ kind: 'failed', isSent: false, diagnostic });
const noSource = (node: string, detail: string): Unlocked =>
  failed(diagnose('unlock/no-source', { subject: nodeSubject(node), detail }));

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
    if (node === undefined || secret === undefined) return noSource(name, `No password of ${name} resolves by itself.`);
    const settled = { kind: 'way' as const, ...(await ways.settle(node)) };
    const address = lookupName(settled.target.host, settled.target.port);
    if (attempts.wasRefused(address)) {
      const detail = prose`${named(name)} refused the password that it was given last.`;
      return failed(diagnose('unlock/refused-before', { subject: nodeSubject(name), detail }));
    }
    const limits = { ...useLimits(run), signal };
    const door = await lookAtDoor(settled, limits).catch(unlessAboutNode);
    if (signal.aborted) return failed(interruption(name));
    // It may be on its way: who waits for it looks again.
    if (door?.kind !== 'locked') return { kind: 'later' };
    if (!isPinned(settled, door.shown)) {
      return noSource(name, `The key that ${name} shows at FileVault is not pinned.`);
    }
    const trust = trustIn(settled.target, door.shown.key);
    const one = { node: node.name, way: settled, trust, password: secret };
    const newToken = (): string => randomBytes(16).toString('hex');
    const result = await unlockNode(one, {
      ...limits,
      attempts,
      timing,
      newToken,
      onProgress: (_node, text) => onProgress(text),
    });
    return isPassing(result) ? { kind: 'later' } : result;
  };
}

/** As the plan looks at it: with a key pinned for FileVault; the one of the normal sshd is as good then. */
const isPinned = ({ trust }: Settled, { verdict }: ShownKey): boolean =>
  verdict.kind === 'preboot' || (verdict.kind === 'accepted' && trust.knowsPreboot);

/** With these nothing was sent, and the next moment may be another. */
const passing: ReadonlySet<string> = new Set([
  'ssh/unreachable',
  'ssh/refused',
  'ssh/timed-out',
  'ssh/dropped',
  'ssh/too-many-connections',
]);

const isPassing = (result: Unlocked): boolean =>
  result.kind === 'failed' && !result.isSent && passing.has(result.diagnostic.code);

function unlessAboutNode(error: unknown): undefined {
  if (error instanceof FleetError) return undefined;
  throw error;
}

/** The password of a node when nobody has to be asked for it. */
async function quietSecret(run: Run, node: DesiredNode, clusterFile: string): Promise<Secret | undefined> {
  if (node.password === undefined || node.password.kind === 'prompt') return undefined;
  const subject = nodeSubject(node.name);
  const context = secretContext(run, { subject, folder: dirname(clusterFile), question: '' });
  const resolved = await resolveSecret(node.password, context);
  return resolved.kind === 'resolved' ? resolved.secret : undefined;
}

/** Playbooks of which a task restarts Macs. */
const restarts = ({ plays }: Playbook): boolean =>
  plays.some((play) => play.tasks.some((task) => task.kind === 'reboot'));

/**
 * Which nodes would be unlocked without a person after a restart by this playbook, each with where its password comes
 * from, in words. No node is asked.
 */
export async function unlockedByItself(
  run: Run,
  playbook: Playbook,
  { fleet, ways }: About,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const attempts = openUnlockAttempts(run.env, timingFor(run).unlockPauseMs);
  for (const node of restarts(playbook) ? fleet.nodes : []) {
    if (node.password === undefined || node.password.kind === 'prompt') continue;
    const settled = await ways.settle(node).catch(unlessAboutNode);
    if (settled?.trust.knowsPreboot !== true) continue;
    if (attempts.wasRefused(lookupName(settled.target.host, settled.target.port))) continue;
    const secret = await quietSecret(run, node, ways.clusterFile);
    if (secret !== undefined) found.set(node.name, secretSourceText(node.password));
  }
  return found;
}

/** The plan as it will go: Macs that are unlocked by themselves wait for nobody. */
export function withUnlocks(plan: Plan, unlocked: ReadonlyMap<string, string>): Plan {
  const told = (one: Diagnostic): Diagnostic => {
    const node = subjectNodes(one.subject)[0] ?? '';
    const source = one.code === 'reboot/ends-at-filevault' ? unlocked.get(node) : undefined;
    if (source === undefined) return one;
    const detail = `FileVault is on: after the restart it is unlocked with the password from ${source}.`;
    return { ...one, severity: 'notice', detail, hint: 'Nothing is to be done.' };
  };
  return { ...plan, diagnostics: plan.diagnostics.map(told) };
}
