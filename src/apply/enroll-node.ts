import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { exitText, isSuccess } from '../model/probe.ts';
import type { Secret } from '../model/secret.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, named, prose } from '../model/text/prose.ts';
import { rootLine, scriptCommand, shellCommand, tool } from '../node/paths/node-paths.ts';
import { isPasswordWrong } from '../node/sudo-answer.ts';
import { type AccessAnswer, installAccessCommand, readAccessAnswer } from '../rack/access/install-access.ts';
import { fetchHostKey } from '../remote/connect.ts';
import { quoteNodeText } from '../remote/connect-failure.ts';
import type { HostKeyVerdict } from '../remote/keys/host-key-trust.ts';
import { connectWithPassword, diagnoseSudo } from '../remote/keys/password-login.ts';
import { diagnoseExit, type ExecResult, printedText } from '../remote/remote.ts';
import { interruption, type LogIn, type UseLimits, type Way, withRemote } from './reach/session.ts';

/** How a node is entered to install key and rule, and what is missing there. */
interface InstallAccess {
  readonly node: NodeName;
  readonly way: Extract<Way, { kind: 'way' }>;
  /** Of the account, for sudo. */
  readonly password: Secret;
  /** Type and base64 of the key to install; absent when the node accepts one. */
  readonly key?: string;
  /** How to log in; by key unless given. */
  readonly logIn?: LogIn;
}

/** What was installed, and what stood in the way of the rest. Only a login by key over a new connection shows that it works. */
export interface InstallResult {
  readonly answer: AccessAnswer;
  readonly diagnostics: readonly Diagnostic[];
}

/** A login with this password, over a connection of its own. */
export const byPassword =
  (password: Secret): LogIn =>
  ({ target, trust }, limits) =>
    connectWithPassword({ target, trust, password }, limits);

/** Logs in once and puts the key and the rule of sudo on the node, each unless it is there. The password is sent once. */
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
    const detail = prose`sudo on ${named(label)} refused the password of ${user}. It was given once.`;
    return { answer, diagnostics: [diagnose('enroll/sudo-refused-password', { detail, subject })] };
  }
  const denied = diagnoseSudo(label, user, exit, said);
  if (denied !== undefined && denied.code !== 'ssh/sudo-needs-password') return { answer, diagnostics: [denied] };
  const why = answer.refusal ?? (said.trim().split('\n').at(-1) || exitText(exit));
  const detail = prose`${labelled(label)}${quoteNodeText(why)}`;
  return { answer, diagnostics: [diagnoseExit(label, exit) ?? diagnose('enroll/not-installed', { detail, subject })] };
}

/** The key that a node shows now, and what is to be thought of it. */
export interface ShownKey {
  readonly key: HostKey;
  /** `SHA256:…`. */
  readonly fingerprint: string;
  readonly verdict: HostKeyVerdict;
}

/**
 * Asks a node for its host key; offers nothing to it.
 * @throws FleetError with one `ssh/…` code, or `run/interrupted` when the signal ended it
 */
export async function lookAtHostKey(way: Extract<Way, { kind: 'way' }>, limits: UseLimits): Promise<ShownKey> {
  const { deadlineMs, signal, onRemote } = limits;
  const asked = { deadlineMs, ...given({ signal, onRemote }) };
  const { fingerprint, ...key } = await fetchHostKey(way.target, asked, way.trust.algorithms).catch(
    (error: unknown) => {
      // An interrupted attempt says nothing about the node.
      throw signal?.aborted === true ? new FleetError([interruption(way.target.label)]) : error;
    },
  );
  const verdict = way.trust.judge(Buffer.from(key.base64, 'base64'));
  onRemote?.({ kind: 'host-key', node: way.target.label, verdict: verdict.kind, fingerprint });
  return { key, fingerprint, verdict };
}

/** Whether the controller may log in and become root; what is missing, with the line to add, when it may not. */
export interface AccessCheck {
  /** `unknown` when nobody could ask: the node was not reached, is locked, or no key could be offered. */
  readonly login: 'accepted' | 'refused' | 'unknown';
  /** Absent when nobody could ask. */
  readonly sudo?: 'allowed' | 'refused' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
}

/** Logs in once and asks sudo in the one form in which meshwright will use it: `sudo -n /bin/sh -s`, with no script. */
export async function checkAccess(
  node: NodeName,
  way: Extract<Way, { kind: 'way' }>,
  limits: UseLimits,
): Promise<AccessCheck> {
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
    const isRefused = reached.diagnostics.some((one) => one.code === 'ssh/authentication-failed');
    return { login: isRefused ? 'refused' : 'unknown', diagnostics: reached.diagnostics };
  }
  const { exit, stderr } = printedText(reached.value);
  const problem = diagnoseSudo(target.label, target.user, exit, stderr);
  if (problem) return { login: 'accepted', sudo: 'refused', diagnostics: [problem] };
  if (isSuccess(exit)) return { login: 'accepted', sudo: 'allowed', diagnostics: [] };
  const detail = prose`${named(target.label)} answered ${exitText(exit)}: ${stderr.trim().slice(0, 300) || 'without a word'}`;
  const unheard = diagnose('enroll/sudo-unknown', { detail, subject: nodeSubject(target.label) });
  return { login: 'accepted', sudo: 'unknown', diagnostics: [unheard] };
}
