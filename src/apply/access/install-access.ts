import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import type { NodeName } from '../../model/node.ts';
import type { Secret } from '../../model/secret.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { isPasswordWrong } from '../../node/sudo-answer.ts';
import { type AccessAnswer, installAccessCommand, readAccessAnswer } from '../../rack/access/install-access.ts';
import { quoteNodeText } from '../../remote/connect-failure.ts';
import { diagnoseExit } from '../../remote/exit-reasons.ts';
import { connectWithPassword } from '../../remote/keys/password-login.ts';
import { diagnoseSudo } from '../../remote/keys/sudo-answer.ts';
import type { ExecResult } from '../../remote/remote.ts';
import { type LogIn, type UseLimits, type Way, withRemote } from '../reach/with-remote.ts';

/** How a node is entered to install key and rule, and what is missing there. */
export interface InstallAccess {
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
      remote.exec(installAccessCommand(remote.rootPrefix, { user, ...(key === undefined ? {} : { key }) }), {
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

function judge({ way }: InstallAccess, { exit, stdout, stderr }: ExecResult): InstallResult {
  const { label, user } = way.target;
  const answer = readAccessAnswer(Buffer.from(stdout).toString('utf8'));
  if (isSuccess(exit) && answer.rule !== undefined) return { answer, diagnostics: [] };
  const said = Buffer.from(stderr).toString('utf8');
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
