import type { AuthHandlerMiddleware, KeyboardInteractiveAuthMethod } from 'ssh2';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { Exit } from '../../model/probe.ts';
import { concealed, type Secret } from '../../model/secret.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, prose } from '../../model/text/prose.ts';
import { classifySudo, sudoRule } from '../../node/sudo-answer.ts';
import { type Attempt, attempt, checkTarget, connectionOf, logIn, reported } from '../attempt.ts';
import { diagnoseConnect, isFileVaultBanner, quoteNodeText, saysUnlocked } from '../connect-failure.ts';
import type { ConnectLimits, Remote, Target } from '../remote.ts';
import type { HostKeyTrust } from './host-key-trust.ts';

/** Explains where to add a sudo rule for one user. Two leading spaces keep the line unwrapped. */
const addRule = (line: string): string =>
  `Add this line to /etc/sudoers.d/meshwright on the node (mode 0440, check with visudo -cf):\n  ${line}`;

/** Explains why sudo does not work; undefined if it works or the reason is unknown. */
export function diagnoseSudo(label: string, user: string, exit: Exit, stderr: string): Diagnostic | undefined {
  const said = quoteNodeText(stderr.trim().split('\n').at(-1) ?? '');
  const fields = {
    detail: prose`${labelled(label)}sudo -n printed "${said}" for ${user}.`,
    subject: nodeSubject(label),
  };
  const state = classifySudo(exit, stderr);
  if (state === 'needs-password')
    return diagnose('ssh/sudo-needs-password', { ...fields, hint: addRule(sudoRule(user)) });
  if (state === 'needs-terminal')
    return diagnose('ssh/sudo-needs-terminal', { ...fields, hint: addRule(`Defaults:${user} !requiretty`) });
  return state === 'denied' || state === 'broken' ? diagnose('ssh/sudo-denied', fields) : undefined;
}

export interface PasswordLogin {
  readonly target: Target;
  /** Verifies the node before the password is sent. */
  readonly trust: HostKeyTrust;
  readonly password: Secret;
}

/** The answer of an sshd before FileVault to a password. */
type PrebootAnswer =
  /** The sshd reported that the disk is unlocked. */
  | { readonly kind: 'unlocked' }
  /** The password was sent, but the answer is unclear. Only a new connection can tell. */
  | { readonly kind: 'unheard' }
  /** The node is not a locked Mac; nothing was sent. */
  | { readonly kind: 'not-locked' }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic }
  /** The node was not reached; nothing was sent. */
  | { readonly kind: 'unreached'; readonly diagnostic: Diagnostic };

/** Time limit for the final message. A locked Mac sends it right after the login; others keep the connection open. */
const lastWordsMs = 5_000;
const mostLastWords = 4_096;

/** The state of an sshd that is visible before any login. */
type SshdState = { readonly kind: 'locked' } | { readonly kind: 'other'; readonly diagnostic?: Diagnostic };

interface Tried extends Attempt {
  readonly connectMs: number | undefined;
  readonly isSent: boolean;
  readonly isStrange: boolean;
}

async function tryPassword(
  login: PasswordLogin,
  limits: ConnectLimits,
  expected: 'login' | 'preboot' | 'nobody',
): Promise<Tried> {
  const { target, trust, password } = login;
  checkTarget(target, trust);
  const tried = await attempt(target, limits, { offers: [], leftOut: 0, problems: [] });
  const { client, socket, record } = tried;
  const notes = { isSent: false, isStrange: false };
  client.once('change password', () => socket.destroy());
  const once = passwordOnly(target.user, password, {
    refused: record.refused,
    maySend: () => expected !== 'nobody' && isFileVaultBanner(record.failure().banner) === (expected === 'preboot'),
    sent: () => {
      notes.isSent = true;
    },
    strange: () => {
      notes.isStrange = true;
      socket.destroy();
    },
  });
  const connectMs = await logIn(tried, { target, trust }, limits, once);
  return { ...tried, ...notes, connectMs };
}

/**
 * Connects to a node and logs in with a password, once, without keys or agents. The host key is verified before
 * anything is sent, and nothing is sent to a Mac that waits for its FileVault password.
 * @throws FleetError with exactly one `ssh/…` code
 */
export const connectWithPassword = (login: PasswordLogin, limits: ConnectLimits): Promise<Remote> =>
  reported(login.target, limits, async () => {
    const { target } = login;
    const tried = await tryPassword(login, limits, 'login');
    const remote = connectionOf(tried, target, limits, tried.connectMs);
    if (remote !== undefined) return remote;
    throw new FleetError([diagnosePassword(target, tried)]);
  });

/**
 * Sends an account's password once to the sshd of a Mac that waits for its FileVault password. Sends nothing if the
 * host key is not trusted, or if the node does not report that the system is locked.
 * @see apple_ssh_and_filevault(7), macOS 26: the connection closes when the disk is unlocked
 */
export async function unlockWithPassword(login: PasswordLogin, limits: ConnectLimits): Promise<PrebootAnswer> {
  const { target } = login;
  const answer = await reported(target, limits, () => unlock(login, limits));
  const isRefused = answer.kind === 'refused' || answer.kind === 'unreached';
  if (isRefused) limits.onRemote?.({ kind: 'refused', node: target.label, diagnostics: [answer.diagnostic] });
  return answer;
}

async function unlock(login: PasswordLogin, limits: ConnectLimits): Promise<PrebootAnswer> {
  const tried = await tryPassword(login, limits, 'preboot');
  const { client, socket, record } = tried;
  const lastWords = tried.isSent && tried.connectMs !== undefined ? await listen(tried) : '';
  const failure = record.failure();
  client.end();
  socket.destroy();
  const said = [failure.banner, lastWords, ...failure.errors.map((one) => one.message)];
  if (tried.isSent && said.some(saysUnlocked)) return { kind: 'unlocked' };
  if (tried.connectMs !== undefined && !tried.isSent) return { kind: 'not-locked' };
  if (tried.isSent && isPasswordRefused(tried)) {
    return { kind: 'refused', diagnostic: diagnosePassword(login.target, tried) };
  }
  if (tried.isSent) return { kind: 'unheard' };
  const isHostKnown = failure.verdict?.kind === 'accepted';
  const isOpen = failure.methodsLeft !== undefined && !isFileVaultBanner(failure.banner);
  if (isHostKnown && isOpen) return { kind: 'not-locked' };
  return { kind: 'unreached', diagnostic: diagnosePassword(login.target, tried) };
}

/** Checks whether a Mac is waiting for its FileVault password; sends only the account name. */
export async function seeWhetherLocked(
  { target, trust }: Pick<PasswordLogin, 'target' | 'trust'>,
  limits: ConnectLimits,
): Promise<SshdState> {
  const { client, socket, record } = await tryPassword({ target, trust, password: concealed('') }, limits, 'nobody');
  const failure = record.failure();
  client.end();
  socket.destroy();
  if (failure.verdict?.kind === 'accepted' && isFileVaultBanner(failure.banner)) return { kind: 'locked' };
  const diagnostic = failure.methodsLeft === undefined ? diagnoseConnect(target, failure) : undefined;
  return { kind: 'other', ...given({ diagnostic }) };
}

/** Collects what a node prints after the login. It is not documented where the final message appears. */
function listen({ client, socket }: Attempt): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const timer = setTimeout(() => resolve(text), lastWordsMs);
    const hear = (chunk: Buffer): void => {
      text = `${text}${chunk.toString('latin1')}`.slice(0, mostLastWords);
      if (saysUnlocked(text)) end();
    };
    const end = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    socket.once('close', end);
    if (socket.destroyed) return end();
    client.shell(false, (error, channel) => {
      if (error) return;
      channel.on('data', hear);
      channel.stderr.on('data', hear);
      channel.once('close', end);
    });
  });
}

/** Whether the node rejected the password: it named the remaining methods after the password was sent. */
function isPasswordRefused({ record }: Tried): boolean {
  const { errors, isLate } = record.failure();
  const isEnded = errors.some(
    (one) => one.level === 'client-authentication' || /authentication fail/iu.test(one.message),
  );
  return !isLate && isEnded;
}

function diagnosePassword(target: Target, tried: Tried): Diagnostic {
  const failure = tried.record.failure();
  const subject = nodeSubject(target.label);
  const who = `${target.user}@${target.host}`;
  if (tried.isStrange) {
    const detail = `${who} asked for something other than one hidden answer; nothing was sent.`;
    return diagnose('ssh/strange-prompt', { detail, subject });
  }
  if (tried.isSent && isPasswordRefused(tried)) {
    const detail = failure.isPartial
      ? `${who} accepted the password, but also requires ${quoteNodeText((failure.methodsLeft ?? []).join(', '))}.`
      : `${who} rejected the password, which was sent only once.`;
    return diagnose('ssh/password-refused', { detail, subject });
  }
  const methods = failure.methodsLeft;
  if (methods !== undefined && !isFileVaultBanner(failure.banner) && !tried.isSent && !failure.isLate) {
    const detail = `${who} accepts only ${quoteNodeText(methods.join(', ')) || 'no method'}.`;
    return diagnose('ssh/no-password-login', { detail, subject });
  }
  return diagnoseConnect(target, failure);
}

interface PasswordWatch {
  /** Called with the methods that the node still accepts after it has rejected one. */
  readonly refused: (methodsLeft: readonly string[], isPartial: boolean) => void;
  /** Returns whether the password may be sent to this node. Called once, before sending. */
  readonly maySend: () => boolean;
  readonly sent: () => void;
  /** Called if the node asked for something other than one hidden answer; nothing was sent. */
  readonly strange: () => void;
}

/**
 * Logs in only with a password, once. The first request is `none`, which makes the node send its banner and methods.
 * Then follows `password`, or `keyboard-interactive` with exactly one hidden prompt. No keys, agents or retries are
 * used. ssh2 verifies the host key before the first request.
 */
export function passwordOnly(username: string, password: Secret, watch: PasswordWatch): AuthHandlerMiddleware {
  let isSpent = false;
  return (methodsLeft, isPartial, next) => {
    if (methodsLeft === null) return next({ type: 'none', username });
    watch.refused(methodsLeft, isPartial === true);
    if (isSpent || isPartial === true || !watch.maySend()) return false;
    isSpent = true;
    if (methodsLeft.includes('password')) {
      watch.sent();
      return next({ type: 'password', username, password: password.reveal() });
    }
    if (!methodsLeft.includes('keyboard-interactive')) return false;
    return next(oneHiddenPrompt(username, password, watch));
  };
}

function oneHiddenPrompt(username: string, password: Secret, watch: PasswordWatch): KeyboardInteractiveAuthMethod {
  let isAnswered = false;
  return {
    type: 'keyboard-interactive',
    username,
    prompt: (...[, , , prompts, finish]) => {
      if (isAnswered || prompts.length !== 1 || prompts[0]?.echo === true) return watch.strange();
      isAnswered = true;
      watch.sent();
      finish([password.reveal()]);
    },
  };
}
