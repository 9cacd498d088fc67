import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { given } from '../model/given.ts';
import { nodeSubject } from '../model/subject.ts';
import { meshwright } from '../model/text/command.ts';
import { named, type Prose, prose } from '../model/text/prose.ts';
import { wireFields } from './keys/host-key.ts';
import { diagnoseHostKey, type HostKeyVerdict, lockedAtFileVault } from './keys/host-key-trust.ts';
import type { Target } from './remote.ts';
import { hostKeyAlgorithms, strictAlgorithms } from './ssh2.ts';

/** An error as reported by the network or the SSH library. */
export interface ConnectError {
  /** ssh2's own classification: `client-socket`, `client-authentication`, `handshake`, `protocol`, … */
  readonly level?: string;
  /** Codes of Node (`ECONNREFUSED`), or the number of an SSH disconnect message. */
  readonly codes: readonly string[];
  readonly message: string;
}

/** The record of a failed connection attempt; {@link diagnoseConnect} evaluates it. */
export interface ConnectFailure {
  /** The last phase that the attempt reached. */
  readonly phase: 'name' | 'tcp' | 'identification' | 'key-exchange' | 'authentication';
  readonly errors: readonly ConnectError[];
  readonly isLate: boolean;
  readonly deadlineMs: number;
  readonly plaintext: PlaintextPhase;
  readonly verdict?: HostKeyVerdict;
  readonly banner: string;
  /** Login methods that the node still accepts; absent if the login did not begin. */
  readonly methodsLeft?: readonly string[];
  /** Whether the node accepted a key and requires another login step. */
  readonly isPartial: boolean;
  readonly offered: readonly string[];
  /** Offered keys that the node would accept, but for which the agent did not sign. */
  readonly unsigned: readonly string[];
  readonly leftOut: number;
  readonly keyProblems: readonly Diagnostic[];
}

const where = (target: Target): Prose => prose`${named(target.host)} port ${target.port}`;

/** Quotes text from a node: escapes everything except plain ASCII, and keeps at most 120 characters. */
export function quoteNodeText(text: string): string {
  const plain = text.replace(
    /[^\x20-\x7e]/gu,
    (one) => `\\x${(one.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`,
  );
  return plain.length > 120 ? `${plain.slice(0, 120)}…` : plain;
}

const words = (text: string): string => text.replace(/\s+/gu, ' ').trim().toLowerCase();

/**
 * Whether a banner is the one that macOS shows before FileVault is unlocked. @see apple_ssh_and_filevault(7), macOS 26
 */
export function isFileVaultBanner(banner: string): boolean {
  const said = words(banner);
  return said.includes('system is locked.') && said.includes('to unlock it');
}

/** Whether macOS reports that FileVault is unlocked. The banner before the login contains some of the same words. */
export const saysUnlocked = (text: string): boolean => words(text).includes('system successfully unlocked');

const unnamed: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'];

function nameless(target: Target, failure: ConnectFailure, codes: readonly string[]): Diagnostic {
  const late = `could not be looked up within ${failure.deadlineMs / 1000} s`;
  const why = codes.includes('EAI_AGAIN') ? 'cannot be looked up at the moment' : 'does not exist';
  return diagnose('ssh/unreachable', {
    detail: prose`The name ${named(target.host)} ${failure.isLate ? late : why}.`,
    hint: 'Correct `host` of this node in cluster.yaml, or use its IP address.',
  });
}

function unreachable(target: Target, failure: ConnectFailure): Diagnostic {
  const codes = failure.errors.flatMap((error) => error.codes);
  if (unnamed.some((code) => codes.includes(code)) || (failure.phase === 'name' && failure.isLate)) {
    return nameless(target, failure, codes);
  }
  // A name can have several addresses, and a silent address can be the right one.
  const isRefused = codes.includes('ECONNREFUSED');
  if (isRefused && codes.every((code) => code === 'ECONNREFUSED')) {
    return diagnose('ssh/refused', { detail: prose`Nothing listens at ${where(target)}.` });
  }
  if (!isRefused && ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'].some((code) => codes.includes(code))) {
    return diagnose('ssh/unreachable', {
      detail: prose`There is no route to ${where(target)}.`,
      hint: 'Check that the Mac is on and in this network. If you are on a Mac, allow your terminal in Privacy & Security > Local Network (Apple TN3179).',
    });
  }
  const silence = prose`${where(target)} did not answer within ${failure.deadlineMs / 1000} s`;
  const reason = failure.errors[0]?.message || codes.join(', ') || 'the connection was closed';
  const failed = prose`${where(target)} could not be reached: ${reason}`;
  const also = isRefused ? ' One of its addresses refused the connection; the others did not answer.' : '';
  return diagnose('ssh/unreachable', { detail: prose`${failure.isLate ? silence : failed}.${also}` });
}

function missingAlgorithm(failure: ConnectFailure): string {
  const { offer } = failure.plaintext;
  const kinds = [
    { name: 'key exchange', ours: strictAlgorithms.kex, theirs: offer?.kex },
    { name: 'host key', ours: hostKeyAlgorithms, theirs: offer?.hostKey },
    { name: 'cipher', ours: strictAlgorithms.cipher, theirs: offer?.cipher },
    { name: 'MAC', ours: strictAlgorithms.hmac, theirs: offer?.mac },
  ];
  const missing = kinds.find(({ ours, theirs }) => theirs !== undefined && !ours.some((one) => theirs.includes(one)));
  if (missing === undefined) return failure.errors.map((error) => error.message).join('; ');
  const theirs = quoteNodeText((missing.theirs ?? []).join(', '));
  return `No common ${missing.name}: the node offers ${theirs}; meshwright supports ${missing.ours.join(', ')}`;
}

/** sshd's message at MaxAuthTries, before it closes the connection. */
const isTooManyKeys = (error: ConnectError): boolean => /too many authentication failures/iu.test(error.message);

function unsigned(target: Target, failure: ConnectFailure): Diagnostic {
  const keys = failure.unsigned.map((one) => `\n  ${one}`).join('');
  const why = failure.isLate ? ` within ${failure.deadlineMs / 1000} s` : '';
  return diagnose('ssh/agent-declined', {
    detail: `${target.user}@${target.host} accepts these keys, but your agent did not sign${why} with them:${keys}`,
    related: failure.keyProblems,
  });
}

/** The hint after a rejected login. Another key does not help if the node wants no key, or more than a key. */
function authenticationHint(target: Target, refusal: 'refused' | 'no-keys' | 'more'): Prose {
  switch (refusal) {
    case 'no-keys':
      return "Set PubkeyAuthentication yes in the Mac's sshd settings (/etc/ssh/sshd_config, /etc/ssh/sshd_config.d).";
    case 'more':
      return [
        'The node requires another login step after the key, but meshwright logs in by key only.',
        `Make publickey sufficient for ${target.user}: change AuthenticationMethods in the Mac's sshd settings`,
        '(/etc/ssh/sshd_config, /etc/ssh/sshd_config.d).',
      ].join('\n');
    case 'refused':
      return prose`Install your key with the account's password:\n  ${meshwright('enroll', target.label)}\nOr add one of the offered keys to ~/.ssh/authorized_keys of that user on the Mac.`;
  }
}

function authentication(target: Target, failure: ConnectFailure): Diagnostic {
  if (isFileVaultBanner(failure.banner)) return lockedAtFileVault(target, '');
  if (failure.unsigned.length > 0) return unsigned(target, failure);
  const methods = failure.methodsLeft ?? [];
  const offered = failure.offered.map((one) => `\n  ${one}`).join('');
  const ended = failure.errors.some(isTooManyKeys)
    ? '\n  (the node ended the login before it had seen all of them)'
    : '';
  const more =
    failure.leftOut > 0
      ? `\n  (${failure.leftOut} more keys were not tried, because nodes close the connection after six)`
      : '';
  const why = failure.isPartial
    ? `The node accepted a key, but also requires: ${quoteNodeText(methods.join(', '))}.`
    : `${target.user}@${target.host} rejected all offered keys:${offered}${ended}${more}`;
  const noKeys = methods.length > 0 && !methods.includes('publickey') && !failure.isPartial;
  const only = noKeys ? `\nThe node accepts only ${quoteNodeText(methods.join(', '))}, no keys.` : '';
  const hint = authenticationHint(target, failure.isPartial ? 'more' : noKeys ? 'no-keys' : 'refused');
  return diagnose('ssh/authentication-failed', { detail: `${why}${only}`, hint, related: failure.keyProblems });
}

function handshake(target: Target, failure: ConnectFailure): Diagnostic {
  const texts = failure.errors.map((error) => error.message);
  const greeting = words(failure.plaintext.greeting);
  const isTurnedAway = /exceeded maxstartups|not allowed at this time/u.test(greeting);
  if (isTurnedAway || failure.errors.some((error) => error.codes.includes('12'))) {
    const said = isTurnedAway ? failure.plaintext.greeting : (texts[0] ?? '');
    return diagnose('ssh/too-many-connections', {
      detail: prose`${where(target)} answered "${quoteNodeText(said.trim())}" and closed the connection.`,
    });
  }
  if (failure.plaintext.identification === undefined && failure.plaintext.greeting !== '') {
    return diagnose('ssh/not-ssh', {
      detail: prose`${where(target)} sent "${quoteNodeText(failure.plaintext.greeting)}" instead of an SSH identification.`,
    });
  }
  if (failure.isLate) {
    return diagnose('ssh/timed-out', {
      detail: prose`${where(target)} stopped responding during ${failure.phase.replace('-', ' ')}; meshwright gave up after ${failure.deadlineMs / 1000} s.`,
    });
  }
  if (texts.some((text) => /signature verification failed/iu.test(text))) {
    return diagnose('ssh/host-key-unproven', {
      detail: prose`${where(target)} showed the known host key, but did not sign with that key.`,
    });
  }
  if (texts.some((text) => /no matching/iu.test(text))) {
    return diagnose('ssh/no-common-algorithm', { detail: `${missingAlgorithm(failure)}.` });
  }
  const reason = texts[0] === undefined ? '' : ` (${quoteNodeText(texts[0])})`;
  return diagnose('ssh/dropped', {
    detail: prose`${where(target)} closed the connection during ${failure.phase.replace('-', ' ')}${reason}.`,
    hint: 'Try again in a minute: an sshd at its limits (MaxStartups, PerSourcePenalties) also closes connections without a message.',
  });
}

/** Why a connection failed, from the record only. The host key comes first: after a wrong one, nothing is reliable. */
export function diagnoseConnect(target: Target, failure: ConnectFailure): Diagnostic {
  const subject = nodeSubject(target.label);
  const { verdict } = failure;
  if (verdict !== undefined && verdict.kind !== 'accepted') return { ...diagnoseHostKey(target, verdict), subject };
  if (failure.phase === 'tcp' || failure.phase === 'name') return { ...unreachable(target, failure), subject };
  const isAuth = failure.errors.some((error) => error.level === 'client-authentication' || error.codes.includes('14'));
  const isRefused =
    isAuth ||
    (failure.phase === 'authentication' && (failure.unsigned.length > 0 || failure.errors.some(isTooManyKeys))) ||
    (failure.phase === 'authentication' && failure.methodsLeft !== undefined && !failure.isLate);
  return { ...(isRefused ? authentication(target, failure) : handshake(target, failure)), subject };
}

/** The data that a server sends before encryption starts. */
interface PlaintextPhase {
  /** Text before the identification line, or all text if there is no such line; at most 1,024 characters. */
  readonly greeting: string;
  /** The identification, such as `SSH-2.0-OpenSSH_10.0`; absent until its line is complete. */
  readonly identification?: string;
  /** The server's algorithms, once its key exchange packet has arrived. */
  readonly offer?: ServerOffer;
}

interface ServerOffer {
  readonly kex: readonly string[];
  readonly hostKey: readonly string[];
  readonly cipher: readonly string[];
  readonly mac: readonly string[];
}

const kexInit = 20;
const cookieBytes = 16;
const listCount = 10;

function parseOffer(packet: Buffer): ServerOffer | undefined {
  if (packet.length < 6 || packet[5] !== kexInit) return undefined;
  const end = 4 + packet.readUInt32BE(0) - (packet[4] ?? 0);
  let at = 6 + cookieBytes;
  const lists: string[][] = [];
  while (lists.length < listCount && at + 4 <= end && end <= packet.length) {
    const next = at + 4 + packet.readUInt32BE(at);
    const list = wireFields(packet.subarray(at, next))?.[0];
    if (list === undefined) return undefined;
    lists.push(list.toString('latin1').split(','));
    at = next;
  }
  const [kex, hostKey, cipher, , mac] = lists;
  if (kex === undefined || hostKey === undefined || cipher === undefined || mac === undefined) return undefined;
  return { kex, hostKey, cipher, mac };
}

/** Parses a server's first bytes, even if they are incomplete or invalid. */
export function parsePlaintext(bytes: Buffer): PlaintextPhase {
  const text = bytes.toString('latin1');
  const found = /(?:^|\n)(SSH-[^\n]*)\n/u.exec(text);
  if (found === null) return { greeting: text.slice(0, 1024) };
  const line = found[1] ?? '';
  const start = found.index + found[0].length - line.length - 1;
  const offer = parseOffer(bytes.subarray(start + line.length + 1));
  return { greeting: text.slice(0, start).slice(0, 1024), identification: line.trim(), ...given({ offer }) };
}
