import type { sshCodes } from '../diagnostics/codes/codes-ssh.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { NodeSurvey } from '../engine/diagnose/survey.ts';
import type { Unreached } from '../engine/plan/view.ts';
import { everyNodeText } from '../model/node.ts';
import { counted } from './page.ts';

/** The reasons why a node was not reached, in at most 28 columns to fit a table row. */
const shortReasons: Readonly<Record<keyof typeof sshCodes, string>> = {
  'ssh/unreachable': 'no answer',
  'ssh/refused': 'refused',
  'ssh/timed-out': 'connecting timed out',
  'ssh/not-ssh': 'not an SSH server',
  'ssh/too-many-connections': 'rejects more connections',
  'ssh/no-common-algorithm': 'no common safe algorithm',
  'ssh/host-key-unknown': 'host key unknown',
  'ssh/host-key-changed': 'host key changed',
  'ssh/host-key-unproven': 'host key not verified',
  'ssh/host-key-revoked': 'host key revoked',
  'ssh/certificate-authority': 'trusted only through a CA',
  'ssh/authentication-failed': 'login refused',
  'ssh/no-key': 'no SSH key available',
  'ssh/key-unusable': 'key file unusable',
  'ssh/key-encrypted': 'key encrypted, no agent',
  'ssh/agent-declined': 'ssh agent declined',
  'ssh/agent-unreachable': 'ssh agent does not answer',
  'ssh/proxyjump': 'behind a jump host',
  'ssh/config-unreadable': 'ssh_config not readable',
  'ssh/config-unsupported': 'ssh_config not supported',
  'ssh/bad-address': 'no usable address',
  'ssh/password-refused': 'password refused',
  'ssh/no-password-login': 'no password login',
  'ssh/strange-prompt': 'unexpected prompt',
  'ssh/locked-at-filevault': 'locked at FileVault',
  'ssh/dropped': 'connection lost',
  'ssh/exit-unknown': 'exit code unknown',
  'ssh/sudo-needs-password': 'sudo asks for a password',
  'ssh/sudo-needs-terminal': 'sudo asks for a terminal',
  'ssh/sudo-denied': 'sudo refused',
};

const reasons: ReadonlyMap<string, string> = new Map(Object.entries(shortReasons));

/** The reason in an unreached node's row; the summary for codes without a short reason. */
export function reasonText({ failure }: NodeSurvey): string {
  const summary = failure?.summary ?? 'Not reached.';
  const short = failure === undefined ? undefined : reasons.get(failure.code);
  return short ?? escapeText(summary.replace(/\.$/, '').replace(/^The node /, ''));
}

/** The `unreached` field of a document; absent if all nodes were reached. */
export const unreachedField = (unreached: Unreached = {}): { readonly unreached?: Unreached } =>
  Object.keys(unreached).length === 0 ? {} : { unreached };

/** `4 nodes`, or `3 of 4 nodes observed` if some were not reached. */
export function seenText(seen: number, unreached: Unreached = {}): string {
  const lost = Object.keys(unreached).length;
  return lost === 0 ? counted(seen, 'node') : `${seen} of ${counted(seen + lost, 'node')} observed`;
}
/** For longer lists, only the count is shown. */
const listedAtMost = 4;

/** {@link everyNodeText}; `6 nodes` for more than four names that are not consecutive. */
export function nodesText(names: readonly string[]): string {
  const text = everyNodeText(names);
  return names.length > listedAtMost && text.includes(',') ? `${names.length} nodes` : text;
}
