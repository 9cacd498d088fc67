import { lookAtHostKey, type ShownKey } from '../apply/enroll-node.ts';
import { interruption } from '../apply/with-remote.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import type { DesiredNode } from '../model/desired.ts';
import { lookupName } from '../remote/address.ts';
import { fingerprint } from '../remote/host-key.ts';
import { diagnoseHostKey } from '../remote/host-key-diagnostics.ts';
import type { Target } from '../remote/remote.ts';
import { askYes } from './ask.ts';
import { type Access, settleAccess, type TrustedWay, trustedWay } from './enroll-access.ts';
import { lookAtMac } from './enroll-mac.ts';
import type { LockKeeper } from './lock-keeper.ts';
import { useLimits } from './use-limits.ts';
import type { Run } from './verb.ts';
import type { Ways } from './ways.ts';

/** How enrolling one node ended. */
export interface Enrolled {
  readonly label: string;
  /** `host`, or `[host]:port`: the name of its pins. */
  readonly address: string;
  readonly user: string;
  readonly type?: string;
  readonly fingerprint?: string;
  readonly pin: 'kept' | 'added' | 'replaced' | 'declined' | 'refused' | 'unseen';
  readonly login?: Access['login'];
  readonly sudo?: Access['sudo'];
  readonly installed?: Access['installed'];
  /** Which Mac it is, for a node of the file that was logged in to. */
  readonly mac?: 'added' | 'kept' | 'replaced' | 'wrong' | 'unseen';
  /** True when the node waits for its FileVault password. */
  readonly isLocked: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** What enrolling one node needs. */
export interface EnrollOne {
  readonly subject: DesiredNode;
  readonly ways: Ways;
  readonly keeper: LockKeeper;
  /** Every node of the file; empty without one. */
  readonly nodes: readonly DesiredNode[];
}

/** Shows the host key of one node, pins it if that is wanted, and sees that key and sudo work. */
export async function enrollOne(run: Run, one: EnrollOne): Promise<Enrolled> {
  const limits = useLimits(run);
  const base = { label: one.subject.name, address: one.subject.host, user: one.subject.user ?? '', isLocked: false };
  try {
    const settled = await one.ways.settle(one.subject);
    const { target } = settled;
    const address = lookupName(target.host, target.port);
    const shown = await lookAtHostKey({ kind: 'way', ...settled }, limits);
    const seen = { ...base, address, user: target.user, type: shown.key.type, fingerprint: shown.fingerprint };
    const decision = await decide(run, one, shown, target).catch(unlessNobodyThere(shown, target));
    if (decision.kind === 'no') return { ...seen, pin: decision.pin, diagnostics: decision.diagnostics };
    const notPinned = await pin(run, one, { address, key: shown.key, pin: decision.pin });
    if (notPinned !== undefined) return { ...seen, pin: 'refused', diagnostics: [notPinned] };
    const way = trustedWay(target, shown.key, one.keeper.shown);
    const access = await settleAccess(run, { node: one.subject, way });
    return { ...seen, pin: decision.pin, ...access, ...(await recordMac(run, one, { way, access })) };
  } catch (error) {
    if (!(error instanceof FleetError) || !/^(?:ssh|run)\//u.test(error.diagnostics[0].code)) throw error;
    const isLocked = error.diagnostics.some((problem) => problem.code === 'ssh/locked-at-filevault');
    return { ...base, isLocked, pin: 'unseen', diagnostics: error.diagnostics };
  }
}

/** Writes down which Mac a node of the file is, unless the lock knows that; says so when it is another one. */
async function recordMac(
  run: Run,
  { subject: node, keeper, nodes }: EnrollOne,
  { way, access }: { readonly way: TrustedWay; readonly access: Access },
): Promise<Pick<Enrolled, 'mac' | 'diagnostics'>> {
  const { diagnostics } = access;
  if (access.login !== 'accepted' || !nodes.includes(node) || run.signal.aborted) return { diagnostics };
  const seen = await lookAtMac(run, { node, way, nodes, identities: keeper.identities() });
  switch (seen.kind) {
    case 'unseen':
      return { mac: 'unseen', diagnostics };
    case 'impossible':
      return { mac: 'wrong', diagnostics: [...diagnostics, seen.diagnostic] };
    case 'other':
      return { mac: 'wrong', diagnostics: [...diagnostics, otherMac(node.name, keeper.shown)] };
    case 'same':
      return { mac: 'kept', diagnostics };
    case 'new':
      await keeper.recordMac(node.name, seen.identity);
      return { mac: 'added', diagnostics };
  }
}

const otherMac = (name: string, lock: string): Diagnostic =>
  diagnose('identity/wrong-mac', {
    subject: `node ${name}`,
    detail: `${lock} knows another Mac as ${name} than the one that answers.`,
    hint: `If this Mac takes its place: meshwright replace ${name}`,
  });

interface WantedPin {
  readonly address: string;
  readonly key: HostKey;
  readonly pin: 'kept' | 'added' | 'replaced';
}

/** Writes the pin if one is wanted; says why it was not written. After Ctrl-C nothing is written any more. */
async function pin(run: Run, one: EnrollOne, wanted: WantedPin): Promise<Diagnostic | undefined> {
  if (wanted.pin === 'kept') return undefined;
  if (run.signal.aborted) return interruption(one.subject.name);
  try {
    await one.keeper.pin(wanted.address, wanted.key, wanted.pin === 'replaced');
    return undefined;
  } catch (error) {
    if (error instanceof FleetError && error.diagnostics[0].code === 'enroll/pins-changed') return error.diagnostics[0];
    throw error;
  }
}

type Decision =
  | { readonly kind: 'yes'; readonly pin: 'kept' | 'added' | 'replaced' }
  | { readonly kind: 'no'; readonly pin: 'declined' | 'refused'; readonly diagnostics: readonly Diagnostic[] };

async function decide(run: Run, one: EnrollOne, shown: ShownKey, target: Target): Promise<Decision> {
  const { verdict } = shown;
  const expected = run.own['expect'];
  if (typeof expected === 'string' && expected !== shown.fingerprint) {
    const detail = `${target.host} shows ${shown.fingerprint}, and ${expected} was expected.`;
    return refusal(diagnose('enroll/fingerprint-differs', { detail, subject: `node ${target.label}` }));
  }
  const subject = `node ${target.label}`;
  if (verdict.kind === 'revoked' || verdict.kind === 'unreadable') {
    return refusal({ ...diagnoseHostKey(target, verdict), subject });
  }
  const isReplacing = verdict.kind === 'changed';
  if (isReplacing && run.own['replace'] !== true) return refusal({ ...diagnoseHostKey(target, verdict), subject });
  const address = lookupName(target.host, target.port);
  if (one.keeper.pins(address).some((pin) => pin.base64 === shown.key.base64)) return { kind: 'yes', pin: 'kept' };
  if (verdict.kind === 'accepted' && one.ways.isSimulated) return { kind: 'yes', pin: 'kept' };
  const isSure = typeof expected === 'string' || (await askYes(run, question(shown, target)));
  if (!isSure) return { kind: 'no', pin: 'declined', diagnostics: [] };
  return { kind: 'yes', pin: isReplacing ? 'replaced' : 'added' };
}

const refusal = (problem: Diagnostic): Decision => ({ kind: 'no', pin: 'refused', diagnostics: [problem] });

/** Without a terminal nobody says yes; the way out is to say which key is the right one. */
const unlessNobodyThere =
  (shown: ShownKey, target: Target) =>
  (error: unknown): Decision => {
    if (!(error instanceof FleetError) || error.diagnostics[0].code !== 'cli/needs-yes') throw error;
    const { fingerprint: seen } = shown;
    const replace = shown.verdict.kind === 'changed' ? ' --replace' : '';
    return refusal(
      diagnose('cli/needs-yes', {
        subject: `node ${target.label}`,
        detail: `The host key of ${target.label} is not pinned, and pinning it needs a yes.`,
        hint: [
          'Compare the fingerprint on the Mac itself, then say which one is right:',
          `  meshwright enroll ${target.label} --expect ${seen}${replace}`,
          'or say --yes to trust what answers now.',
        ].join('\n'),
      }),
    );
  };

/** What a person types on a Mac to see the fingerprint of this key of it. */
export const compareCommand = ({ type }: HostKey): string =>
  `ssh-keygen -lf /etc/ssh/ssh_host_${/ed25519|ecdsa|rsa/.exec(type)?.[0] ?? '*'}_key.pub`;

function question({ key, fingerprint: seen, verdict }: ShownKey, target: Target): string {
  const known = verdict.kind === 'changed' ? [`  known      ${verdict.known.type} ${fingerprint(verdict.known)}`] : [];
  const also =
    verdict.kind === 'accepted' ? [`             the same as in ${verdict.known.file}:${verdict.known.line}`] : [];
  return [
    `${target.label} at ${lookupName(target.host, target.port)} shows`,
    ...known,
    `  host key   ${key.type} ${seen}`,
    ...also,
    `  compare    ${compareCommand(key)} (on the Mac itself)`,
    'Pin it?',
  ].join('\n');
}
