import type { sshCodes } from '../diagnostics/codes/codes-ssh.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { NodeSurvey } from '../engine/diagnose/survey.ts';
import type { Unreached } from '../engine/plan/view.ts';
import { counted } from './page.ts';

/** Why a node was not reached, in words that fit into the row of a table: at most 28 columns. */
const shortReasons: Readonly<Record<keyof typeof sshCodes, string>> = {
  'ssh/unreachable': 'no answer',
  'ssh/refused': 'refused',
  'ssh/timed-out': 'silent while connecting',
  'ssh/not-ssh': 'no SSH server there',
  'ssh/too-many-connections': 'turns connections away',
  'ssh/no-common-algorithm': 'no safe algorithm in common',
  'ssh/host-key-unknown': 'host key unknown',
  'ssh/host-key-changed': 'host key changed',
  'ssh/host-key-unproven': 'host key not proven',
  'ssh/host-key-revoked': 'host key revoked',
  'ssh/certificate-authority': 'trusted by a CA only',
  'ssh/authentication-failed': 'login refused',
  'ssh/no-key': 'no key to log in with',
  'ssh/key-unusable': 'key file unusable',
  'ssh/key-encrypted': 'key encrypted, no agent',
  'ssh/agent-declined': 'ssh agent declined',
  'ssh/agent-unreachable': 'ssh agent does not answer',
  'ssh/proxyjump': 'behind a jump',
  'ssh/config-unreadable': 'ssh_config not readable',
  'ssh/config-unsupported': 'ssh_config not supported',
  'ssh/bad-address': 'no usable address',
  'ssh/password-refused': 'password refused',
  'ssh/no-password-login': 'takes no password',
  'ssh/strange-prompt': 'asks for something else',
  'ssh/locked-at-filevault': 'locked at FileVault',
  'ssh/dropped': 'connection broke off',
  'ssh/exit-unknown': 'no exit code came back',
  'ssh/sudo-needs-password': 'sudo asks for a password',
  'ssh/sudo-needs-terminal': 'sudo asks for a terminal',
  'ssh/sudo-denied': 'sudo refused',
};

const reasons: ReadonlyMap<string, string> = new Map(Object.entries(shortReasons));

/** What stands in the row of a node that was not reached, instead of facts; the summary for a code of another area. */
export function reasonText({ failure }: NodeSurvey): string {
  const summary = failure?.summary ?? 'Not reached.';
  const short = failure === undefined ? undefined : reasons.get(failure.code);
  return short ?? escapeText(summary.replace(/\.$/, '').replace(/^The node /, ''));
}

/** The field of a document that names the nodes of which it says nothing; no field where all were reached. */
export const unreachedField = (unreached: Unreached = {}): { readonly unreached?: Unreached } =>
  Object.keys(unreached).length === 0 ? {} : { unreached };

/** `4 nodes`, or `3 of 4 nodes seen` where some were not reached. */
export function seenText(seen: number, unreached: Unreached = {}): string {
  const lost = Object.keys(unreached).length;
  return lost === 0 ? counted(seen, 'node') : `${seen} of ${counted(seen + lost, 'node')} seen`;
}
/** More names than these are counted instead. */
const listedAtMost = 4;

/** `studio-1, studio-2`; `6 nodes` for more than four. */
export const nodesText = (names: readonly string[]): string =>
  names.length > listedAtMost ? `${names.length} nodes` : names.join(', ');

/** Fewer than these are listed. */
const shortestSpan = 3;

/** A name in two: `studio-` and `4`; without a number nothing is left behind the stem. */
const halvesOf = (name: string): readonly [string, string] => {
  const [, stem = name, digits = ''] = /^(.*?)(\d{1,9})$/.exec(name) ?? [];
  return [stem, digits];
};

/** `studio-1..4` for names that count upwards, `studio-1,4` for others of one stem; else as {@link nodesText}. */
export function nodeSpan(names: readonly string[]): string {
  const halves = names.map(halvesOf);
  const [[stem, first] = ['', '']] = halves;
  const numbers = halves.map(([, digits]) => digits);
  if (halves.some(([other, digits]) => other !== stem || digits === '')) return nodesText(names);
  const isCounted = numbers.every((digits, at) => digits === `${Number(first) + at}`.padStart(first.length, '0'));
  if (isCounted && names.length >= shortestSpan) return `${stem}${first}..${numbers.at(-1)}`;
  return names.length > listedAtMost ? nodesText(names) : `${stem}${numbers.join(',')}`;
}
