import type { sshCodes } from '../diagnostics/codes/run/codes-ssh.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { NodeSurvey } from '../engine/diagnose/survey.ts';

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
