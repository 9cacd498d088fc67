import { dirname } from 'node:path';
import { type LogIn, type OpenTarget, sharedLogin, type UseLimits, withRemote } from '../../apply/reach/session.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import type { Secret, SecretSource } from '../../model/secret.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { rootLine, scriptCommand, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { isPasswordWrong, sudoRule } from '../../node/sudo-answer.ts';
import { type AccessAnswer, installAccessCommand, readAccessAnswer } from '../../rack/access/install-access-script.ts';
import { quoteNodeText } from '../../remote/connect-failure.ts';
import { trustFor } from '../../remote/keys/host-key-trust.ts';
import { authorizedKeysLines, type FirstKey, firstKey } from '../../remote/keys/identities.ts';
import { connectWithPassword, diagnoseSudo } from '../../remote/keys/password-login.ts';
import { diagnoseExit, type ExecResult, lookupName, printedText, type Target } from '../../remote/remote.ts';
import { type ResolvedSecret, resolveSecret } from '../../secrets/resolve-secret.ts';
import { findClusterFile } from '../files/places.ts';
import { missingIfRefused, secretContext, typedPasswordSource } from '../sources/secrets.ts';
import { askIfPossible } from '../terminal/ask.ts';
import { endedOnAbort } from '../terminal/signals.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** An SSH target that trusts only this confirmed key; `file` is the lock's displayed name. */
export function trustedTarget(target: Target, key: HostKey, file: string): OpenTarget {
  const hostKeys = { [lookupName(target.host, target.port)]: [{ ...key, line: 1 }] };
  return { kind: 'way', target, trust: trustFor(target, { knownHosts: [], lock: { file, hostKeys } }) };
}

/** The state of SSH key and sudo, and what was installed for them. */
export interface Access extends AccessCheck {
  /** What was installed or found on the node; absent if nothing was tried. */
  readonly installed?: Pick<AccessAnswer, 'key' | 'rule'>;
}

interface AccessWanted {
  readonly node: DesiredNode;
  readonly way: OpenTarget;
  /** True if the user has already confirmed the installation. */
  readonly isAgreed?: boolean;
  /** Returns the reasons against any installation on this Mac; uses the same login as the installation. */
  readonly judge?: (logIn: LogIn | undefined) => Promise<readonly Diagnostic[]>;
}

/** Checks the SSH key and sudo, installs what is missing, and returns the result of a second check. */
export async function settleAccess(run: Run, wanted: AccessWanted): Promise<Access> {
  const { node, way } = wanted;
  const check = async (): Promise<AccessCheck> => {
    const access = await checkAccess(node.name, way, useLimits(run));
    const diagnostics = await Promise.all(access.diagnostics.map((problem) => withKeyLine(problem, way.target)));
    return { ...access, diagnostics };
  };
  const first = await check();
  const outcome = await installMissing(run, { ...wanted, access: first });
  if (outcome?.kind !== 'tried') return { ...first, diagnostics: outcome?.diagnostics ?? first.diagnostics };
  const { key, rule } = outcome.answer;
  const installed = given({ key, rule });
  const isInPlace = key !== undefined || rule !== undefined;
  // A wrong password is the only problem reported, because the missing lines are its consequence.
  const last = isInPlace ? await check() : { ...first, diagnostics: [] };
  const diagnostics = [...outcome.diagnostics, ...last.diagnostics];
  return { ...last, diagnostics, ...(isInPlace ? { installed } : {}) };
}

/** Adds the missing line to a rejected login: the public key that was offered first. */
async function withKeyLine(problem: Diagnostic, target: Target): Promise<Diagnostic> {
  if (!hasTrait(problem, 'login-refused')) return problem;
  const [line] = await authorizedKeysLines(target);
  if (line === undefined) return problem;
  return { ...problem, hint: `On the node, as ${target.user}, add this line to ~/.ssh/authorized_keys:\n  ${line}` };
}

/** A reachable node that lacks a working key or sudo rule. */
interface MissingAccess extends AccessWanted {
  readonly access: AccessCheck;
}

/** The result of an installation: the reasons why it was not tried, or the node's answer. */
type InstallOutcome =
  | { readonly kind: 'not-tried'; readonly diagnostics: readonly Diagnostic[] }
  | ({ readonly kind: 'tried' } & InstallResult);

/** True if a password is enough for a fix, because the key is rejected or the sudo rule is missing. */
const isMendable = ({ login, sudo, diagnostics }: AccessCheck): boolean =>
  login === 'refused'
    ? diagnostics.every((one) => hasTrait(one, 'login-refused'))
    : sudo === 'refused' && diagnostics.some((one) => hasTrait(one, 'sudo-password'));

/**
 * Installs a missing key and sudo rule after a confirmation, with the account's password from the command line, the
 * file or a prompt. Without a password, the missing lines are still reported.
 */
async function installMissing(run: Run, missing: MissingAccess): Promise<InstallOutcome | undefined> {
  const { node, way, access } = missing;
  if (!isMendable(access) || run.signal.aborted) return undefined;
  const source: SecretSource | undefined =
    typedPasswordSource(run) ?? node.password ?? (run.console.canAsk ? { kind: 'prompt' } : undefined);
  if (source === undefined) return { kind: 'not-tried', diagnostics: access.diagnostics.map(withOptions) };
  const key = access.login === 'refused' ? await firstKey(way.target) : undefined;
  const isSure = missing.isAgreed === true || (await askIfPossible(run, question(missing, key)));
  if (isSure === undefined) return { kind: 'not-tried', diagnostics: [...access.diagnostics, needsYes(missing)] };
  if (!isSure) return undefined;
  const found = await password(run, missing, source);
  if (found.kind === 'missing') return { kind: 'not-tried', diagnostics: [...access.diagnostics, found.diagnostic] };
  return judgeAndInstall(run, missing, { password: found.secret, key });
}

/** Checks the Mac and installs over one login, so that the password is sent once. */
function judgeAndInstall(
  run: Run,
  { node, way, judge }: MissingAccess,
  { password: secret, key }: { readonly password: Secret; readonly key: FirstKey | undefined },
): Promise<InstallOutcome> {
  const shared = key === undefined ? undefined : sharedLogin(byPassword(secret));
  const install = async (): Promise<InstallOutcome> => {
    const against = (await judge?.(shared?.logIn)) ?? [];
    if (against.length > 0 || run.signal.aborted) return { kind: 'not-tried', diagnostics: against };
    const byKey = key === undefined || shared === undefined ? {} : { key: key.line, logIn: shared.logIn };
    const wanted = { node: node.name, way, password: secret, ...byKey };
    return { kind: 'tried', ...(await installAccess(wanted, useLimits(run))) };
  };
  return endedOnAbort(run.signal, () => shared?.end(), install);
}

function password(run: Run, { node, way: { target } }: MissingAccess, source: SecretSource): Promise<ResolvedSecret> {
  const file = findClusterFile(run.options.file, run.env, run.folder);
  const folder = file === undefined ? run.folder : dirname(file);
  const question = `Password of ${target.user} on ${target.label}`;
  const context = secretContext(run, { subject: nodeSubject(node.name), folder, question });
  return missingIfRefused(resolveSecret(source, context));
}

/** The question before the installation, with everything that the installation will write. */
function question({ way: { target }, access }: MissingAccess, key: FirstKey | undefined): string {
  const { label, user } = target;
  const lacks = access.login === 'refused' ? 'rejects your SSH keys' : 'asks for a password for sudo';
  const keyLines = key === undefined ? [] : [`  key        ${key.label}`, '             in ~/.ssh/authorized_keys'];
  return [
    `${label} ${lacks}.`,
    `With the password of ${user}, which is used once, enroll installs:`,
    ...keyLines,
    `  sudo rule  ${sudoRule(user)}`,
    '             in /etc/sudoers.d/meshwright, after a check with visudo.',
    '             Anyone with your key is then root there without a password.',
    'Install?',
  ].join('\n');
}

const needsYes = ({ way }: MissingAccess): Diagnostic =>
  diagnose('cli/needs-yes', {
    subject: nodeSubject(way.target.label),
    detail: `Installing the SSH key and the sudo rule on ${way.target.label} needs your confirmation.`,
    hint: 'Run the same command again with --yes.',
  });

const withOptions = (problem: Diagnostic): Diagnostic => ({
  ...problem,
  hint: prose`${problem.hint}\nOr let enroll install it with the account's password: run enroll on a terminal, or add --password-env NAME or --password-file FILE.`,
});

/** The login for an installation, and what it will install. */
interface InstallAccess {
  readonly node: NodeName;
  readonly way: OpenTarget;
  /** The account's password, which sudo needs. */
  readonly password: Secret;
  /** The type and base64 of the key to install; absent if the node already accepts a key. */
  readonly key?: string;
  /** Default: by key. */
  readonly logIn?: LogIn;
}

/** What was installed, and why the rest was not. Only a new login by key proves that the key works. */
interface InstallResult {
  readonly answer: AccessAnswer;
  readonly diagnostics: readonly Diagnostic[];
}

/** Logs in with this password over a separate connection. */
export const byPassword =
  (password: Secret): LogIn =>
  ({ target, trust }, limits) =>
    connectWithPassword({ target, trust, password }, limits);

/** Logs in once and installs the key and the sudo rule if they are missing. The password is sent once. */
export async function installAccess(install: InstallAccess, limits: UseLimits): Promise<InstallResult> {
  const { node, way, key, password, logIn } = install;
  const { user } = way.target;
  const reached = await withRemote(
    { node, way },
    limits,
    (remote, leftMs) =>
      remote.exec(installAccessCommand(remote.rootPrefix, { user, ...given({ key }) }), {
        name: 'install-access',
        deadlineMs: leftMs,
        maxBytes: 65_536,
        stdin: Buffer.from(`${password.reveal()}\n`),
      }),
    logIn,
  );
  if (reached.kind === 'unreached') return { answer: {}, diagnostics: reached.diagnostics };
  return judge(install, reached.value);
}

function judge({ way }: InstallAccess, result: ExecResult): InstallResult {
  const { exit, stdout, stderr: said } = printedText(result);
  const { label, user } = way.target;
  const answer = readAccessAnswer(stdout);
  if (isSuccess(exit) && answer.rule !== undefined) return { answer, diagnostics: [] };
  const subject = nodeSubject(label);
  if (isPasswordWrong(said)) {
    const detail = prose`sudo on ${named(label)} rejected the password of ${user}. It was sent once.`;
    return { answer, diagnostics: [diagnose('enroll/sudo-refused-password', { detail, subject })] };
  }
  const denied = diagnoseSudo(label, user, exit, said);
  if (denied !== undefined && !hasTrait(denied, 'sudo-password')) return { answer, diagnostics: [denied] };
  const why = answer.refusal ?? (said.trim().split('\n').at(-1) || exitText(exit));
  const detail = prose`${labelled(label)}${quoteNodeText(why)}`;
  return { answer, diagnostics: [diagnoseExit(label, exit) ?? diagnose('enroll/not-installed', { detail, subject })] };
}

/** The result of testing login and sudo. If one fails, the diagnostics contain the lines to add. */
interface AccessCheck {
  /** `unknown` if the node was not reached, is locked, or no key was available. */
  readonly login: 'accepted' | 'refused' | 'unknown';
  /** Absent if there was no login. */
  readonly sudo?: 'allowed' | 'refused' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
}

/** Logs in once and runs sudo exactly as meshwright does later (`sudo -n /bin/sh -s`), but without a script. */
async function checkAccess(node: NodeName, way: OpenTarget, limits: UseLimits): Promise<AccessCheck> {
  const { target } = way;
  const ask = `${scriptCommand([tool.sudo, '-n', tool.sh, '-s'])} </dev/null`;
  const reached = await withRemote({ node, way }, limits, (remote, leftMs) =>
    remote.exec(shellCommand(`${rootLine(remote.rootPrefix)}\nexport LC_ALL=C\n${ask}`), {
      name: 'check-sudo',
      deadlineMs: leftMs,
      maxBytes: 65_536,
    }),
  );
  if (reached.kind === 'unreached') {
    const isRefused = reached.diagnostics.some((one) => hasTrait(one, 'login-refused'));
    return { login: isRefused ? 'refused' : 'unknown', diagnostics: reached.diagnostics };
  }
  const { exit, stderr } = printedText(reached.value);
  const problem = diagnoseSudo(target.label, target.user, exit, stderr);
  if (problem) return { login: 'accepted', sudo: 'refused', diagnostics: [problem] };
  if (isSuccess(exit)) return { login: 'accepted', sudo: 'allowed', diagnostics: [] };
  const detail = prose`${named(target.label)}: ${exitText(exit)}, ${stderr.trim().slice(0, 300) || 'without an error message'}`;
  const unheard = diagnose('enroll/sudo-unknown', { detail, subject: nodeSubject(target.label) });
  return { login: 'accepted', sudo: 'unknown', diagnostics: [unheard] };
}
