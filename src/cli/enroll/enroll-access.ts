import { type AccessCheck, checkAccess } from '../../apply/access/enroll-node.ts';
import type { Way } from '../../apply/reach/with-remote.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { AccessAnswer } from '../../rack/access/install-access.ts';
import { lookupName } from '../../remote/address.ts';
import { trustFor } from '../../remote/keys/host-key-trust.ts';
import { authorizedKeysLines } from '../../remote/keys/identities.ts';
import type { Target } from '../../remote/remote.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run } from '../verb/verb.ts';
import { installMissing, type MissingAccess } from './enroll-install.ts';

/** A way on which exactly one host key is trusted. */
export type TrustedWay = Extract<Way, { kind: 'way' }>;

/** Trusts the key that somebody has agreed to, and no other; `file` is what the lock is called. */
export function trustedWay(target: Target, key: HostKey, file: string): TrustedWay {
  const hostKeys = { [lookupName(target.host, target.port)]: [{ ...key, line: 1 }] };
  return { kind: 'way', target, trust: trustFor(target, { knownHosts: [], lock: { file, hostKeys } }) };
}

/** Whether key and sudo work, and what was put on the node for that. */
export interface Access extends AccessCheck {
  /** What was put on the node, or was found there; absent when nothing was tried. */
  readonly installed?: Pick<AccessAnswer, 'key' | 'rule'>;
  /** True when the node waits for its FileVault password. */
  readonly isLocked: boolean;
}

/** Where it is looked; `isAgreed` when somebody has said yes to what is put there already. */
export interface AccessWanted {
  readonly node: DesiredNode;
  readonly way: TrustedWay;
  readonly isAgreed?: boolean;
  readonly judge?: MissingAccess['judge'];
}

/** Looks whether key and sudo work, has what is missing installed, and looks again: the last look decides. */
export async function settleAccess(run: Run, wanted: AccessWanted): Promise<Access> {
  const { node, way } = wanted;
  const look = async (): Promise<AccessCheck> => {
    const access = await checkAccess(node.name, way, useLimits(run));
    const diagnostics = await Promise.all(access.diagnostics.map((problem) => withKeyLine(problem, way.target)));
    return { ...access, diagnostics };
  };
  const first = await look();
  const outcome = await installMissing(run, { ...wanted, access: first });
  if (outcome?.kind !== 'tried') return lockedOrNot({ ...first, ...outcome });
  const { key, rule } = outcome.answer;
  const installed = { ...(key && { key }), ...(rule && { rule }) };
  const isInPlace = key !== undefined || rule !== undefined;
  // What was wrong with the password is said alone: that the lines are missing follows from it.
  const last = isInPlace ? await look() : { ...first, diagnostics: [] };
  const diagnostics = [...outcome.diagnostics, ...last.diagnostics];
  return { ...lockedOrNot({ ...last, diagnostics }), ...(isInPlace ? { installed } : {}) };
}

const lockedOrNot = ({ login, sudo, diagnostics }: AccessCheck): Access => ({
  login,
  ...(sudo === undefined ? {} : { sudo }),
  isLocked: diagnostics.some((problem) => problem.code === 'ssh/locked-at-filevault'),
  diagnostics,
});

/** A refused login says which line is missing on the node: the public half of the key that was offered first. */
async function withKeyLine(problem: Diagnostic, target: Target): Promise<Diagnostic> {
  if (problem.code !== 'ssh/authentication-failed') return problem;
  const [line] = await authorizedKeysLines(target);
  if (line === undefined) return problem;
  return { ...problem, hint: `On the node, as ${target.user}, add this line to ~/.ssh/authorized_keys:\n  ${line}` };
}
