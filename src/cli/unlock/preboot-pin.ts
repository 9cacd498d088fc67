import type { ShownKey } from '../../apply/enroll-node.ts';
import type { Way } from '../../apply/reach/with-remote.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { diagnoseHostKey } from '../../remote/keys/host-key-trust.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import type { LockKeeper } from '../cluster/lock-file.ts';
import { askYes } from '../terminal/ask.ts';
import type { Run } from '../verb.ts';

type OpenWay = Extract<Way, { kind: 'way' }>;

/** Whether the key that a locked Mac shows may be given a password. */
type PrebootPin =
  | { readonly kind: 'trusted'; readonly pin: 'kept' | 'added' }
  | { readonly kind: 'no'; readonly pin: 'declined' | 'refused'; readonly diagnostics: readonly Diagnostic[] };

const refused = (problem: Diagnostic): PrebootPin => ({ kind: 'no', pin: 'refused', diagnostics: [problem] });

/**
 * Settles whether a locked Mac is the right one: by its pin, that of its normal sshd, `--expect`, or a person. Whoever
 * answers there is about to get a password.
 */
export async function settlePrebootKey(
  run: Run,
  { way, shown, keeper }: { readonly way: OpenWay; readonly shown: ShownKey; readonly keeper: LockKeeper },
): Promise<PrebootPin> {
  const { target } = way;
  const { verdict } = shown;
  const subject = nodeSubject(target.label);
  const expected = run.own['expect'];
  if (typeof expected === 'string' && expected !== shown.fingerprint) {
    const detail = prose`${named(target.host)} shows ${shown.fingerprint}, and ${expected} was expected.`;
    return refused(diagnose('enroll/fingerprint-differs', { detail, subject }));
  }
  if (verdict.kind === 'preboot') return { kind: 'trusted', pin: 'kept' };
  const address = lookupName(target.host, target.port);
  if (verdict.kind === 'accepted') return { kind: 'trusted', pin: await pinNormal(keeper, address, shown.key) };
  if (verdict.kind === 'revoked' || verdict.kind === 'unreadable') {
    return refused({ ...diagnoseHostKey(target, verdict), subject });
  }
  const [known] = keeper.prebootPins(address);
  if (known !== undefined && run.own['replace'] !== true) return refused(changed(target, shown, known));
  const isSure = typeof expected === 'string' || (await mayPin(run, question(shown, target)));
  if (isSure === undefined) return refused(nobodyThere(shown, target));
  if (!isSure) return { kind: 'no', pin: 'declined', diagnostics: [] };
  await keeper.pinPreboot(address, shown.key, known !== undefined);
  return { kind: 'trusted', pin: 'added' };
}

/** The key of the normal sshd needs no yes; once it is pinned for FileVault too, `reboot` may unlock by itself. */
async function pinNormal(keeper: LockKeeper, address: string, key: HostKey): Promise<'kept' | 'added'> {
  if (keeper.prebootPins(address).some(({ base64 }) => base64 === key.base64)) return 'kept';
  await keeper.pinPreboot(address, key, false);
  return 'added';
}

/** Undefined when nobody can be asked. */
async function mayPin(run: Run, text: string): Promise<boolean | undefined> {
  try {
    return await askYes(run, text);
  } catch (error) {
    if (error instanceof FleetError && error.diagnostics[0].code === 'cli/needs-yes') return undefined;
    throw error;
  }
}

function changed(target: Target, shown: ShownKey, known: HostKey): Diagnostic {
  return diagnose('ssh/host-key-changed', {
    subject: nodeSubject(target.label),
    detail: [
      `The key that ${target.host} shows at FileVault is not the pinned one; no password was sent.`,
      `  known  ${fingerprint(known)}`,
      `  seen   ${shown.fingerprint}`,
    ].join('\n'),
    hint: prose`Unlock it at the Mac this time. If you know why the key is another one:\n  ${meshwright('unlock', target.label, '--replace')}`,
  });
}

const nobodyThere = (shown: ShownKey, target: Target): Diagnostic =>
  diagnose('cli/needs-yes', {
    subject: nodeSubject(target.label),
    detail: prose`The key that ${named(target.label)} shows at FileVault is not pinned, and pinning it needs a yes.`,
    hint: prose`Say which key is the right one:\n  ${meshwright('unlock', target.label, '--expect', shown.fingerprint)}\nor say --yes to trust what answers now with the password.`,
  });

const question = ({ key, fingerprint: seen }: ShownKey, target: Target): string =>
  [
    `${target.label} at ${lookupName(target.host, target.port)} waits at FileVault and shows`,
    `  host key   ${key.type} ${seen}`,
    '             which is not pinned: macOS may have a key of its own before it is unlocked.',
    'Whoever answers there gets the password. Pin it?',
  ].join('\n');
