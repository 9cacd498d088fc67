import { its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about pinning host keys, enrolling Macs and unlocking FileVault. */
export const accessCodes = {
  'enroll/fingerprint-differs': {
    summary: 'The host key is not the expected one.',
    cause: "The fingerprint from `--expect` is another key's: of another Mac, or of someone in the connection.",
    hint: 'Compare it on the Mac itself: `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`',
  },
  'enroll/sudo-unknown': {
    summary: 'Cannot tell whether sudo works on this node.',
    cause: "`sudo -n /bin/sh -s` did not run, and its error message is not one of sudo's known refusals.",
    hint: 'Log in and run: `sudo -n /bin/sh -s </dev/null; echo $?`',
  },
  'enroll/sudo-refused-password': {
    summary: 'sudo refused the password.',
    cause: 'The account can log in, but sudo on the Mac needs another password, or accepts none from this account.',
    hint: 'Run `sudo -v` on the Mac as that account, then correct the password at its source.',
  },
  'enroll/not-installed': {
    summary: 'The SSH key or the sudo rule could not be installed on the Mac.',
    cause: 'A tool on the Mac failed, or `visudo` rejected the sudo rule, so the rule was not installed.',
    hint: 'Fix the problem named above, then run this again. `enroll` continues where it stopped.',
  },
  'enroll/mac-unseen': {
    summary: 'Cannot tell which Mac this is.',
    cause: '`system_profiler` printed no serial number or hardware UUID, so this Mac could be another node.',
    hint: 'Log in and run `system_profiler SPHardwareDataType`, then run this again.',
  },
  'enroll/pins-changed': {
    traits: ['pins-changed'],
    summary: 'Another run pinned a different key for this address in the meantime.',
    cause: 'The keys for this address in the lock file changed while this run was working.',
    hint: 'Check the lock file, then run this again.',
  },
  'enroll/no-such-node': {
    exit: 64,
    summary: 'This is neither a node in the file nor an address.',
    cause: 'A word without a dot or a colon is read as a node name, and the cluster file has no node with this name.',
    hint: 'Give a node from the file, or an address such as studio-5.lan.',
  },
  'unlock/no-source': {
    traits: ['hands'],
    summary: 'No source for the FileVault password is set.',
    cause: 'Neither the cluster file nor the command line names a source, and there is no terminal to ask at.',
    hint: 'Set a source: `password: { env: NAME }` under `ssh` in cluster.yaml, or `--password-env NAME`.',
  },
  'unlock/still-locked': {
    traits: ['hands', 'not-unlocked'],
    summary: 'The node accepted the password but is still locked.',
    cause: 'The password belongs to an account that may not unlock the disk, or the Mac is still unlocking it.',
    hint: 'Enter the password at the Mac. Afterwards, `sudo fdesetup list` on the Mac shows which accounts may unlock the disk.',
  },
  'unlock/no-return': {
    traits: ['no-return'],
    summary: 'The node was unlocked but did not come back.',
    cause: 'After the password, the normal SSH server did not appear: macOS did not start, or the network is not up.',
    hint: prose`Check the Mac's screen. Once macOS is running: ${meshwright('status')}`,
  },
  'reboot/ends-at-filevault': {
    severity: 'warning',
    summary: 'This Mac will wait at FileVault after a restart.',
    cause: "FileVault is on, so after a restart the Mac waits for an account's password before macOS starts.",
    hint: prose`Have the password ready: ${meshwright('unlock', its.node)}`,
  },
  'unlock/refused-before': {
    traits: ['hands'],
    summary: 'The node refused the last password, so meshwright does not send it again.',
    cause: 'Repeating a wrong password slows the Mac down and finally locks accounts.',
    hint: prose`Correct the password at its source, then: ${meshwright('unlock', its.node)}`,
  },
} as const satisfies Record<string, CodeEntry>;

interface SshEntry extends CodeEntry {
  /** Why a node was not reached, in at most 28 columns to fit a table row. */
  readonly reason: string;
}

/** Codes about reaching a node. */
export const sshCodes = {
  'ssh/unreachable': {
    traits: ['looks-off', 'passing'],
    reason: 'no answer',
    summary: 'The node did not answer.',
    cause: 'There is no route to it, its name does not resolve, or it did not answer before the connect deadline.',
    hint: 'Check that the Mac is on and that Remote Login is enabled, then try `ssh` to the same address.',
  },
  'ssh/refused': {
    traits: ['looks-off', 'passing'],
    reason: 'refused',
    summary: 'The node refused the connection.',
    cause: 'The Mac answers, but not on this port: no Remote Login, a wrong port, or macOS starts or shuts down.',
    hint: 'Is the Mac on? If so, turn on System Settings > General > Sharing > Remote Login, or correct `ssh.port` in cluster.yaml.',
  },
  'ssh/timed-out': {
    traits: ['looks-off', 'passing'],
    reason: 'connecting timed out',
    summary: 'The node did not answer in time.',
    cause: 'It accepted the connection, but handshake, login or command did not finish before the deadline.',
    hint: 'Is the Mac on? Try `ssh -v` to the same address: it may be overloaded, or a firewall may be in the way. For a slow command, allow more time: `--deadline 2m`',
  },
  'ssh/not-ssh': {
    reason: 'not an SSH server',
    summary: 'The server at this address is not an SSH server.',
    cause: 'The first bytes from this address and port are not an SSH identification.',
    hint: 'Check the host and the port of this node in cluster.yaml.',
  },
  'ssh/too-many-connections': {
    traits: ['passing'],
    reason: 'rejects more connections',
    summary: 'The node rejects new connections for now.',
    cause: 'sshd has reached `MaxStartups`, or penalizes earlier failed logins (`PerSourcePenalties`).',
    hint: 'Wait a minute before the next attempt. Every further failure makes the penalty longer.',
  },
  'ssh/no-common-algorithm': {
    reason: 'no common safe algorithm',
    summary: 'The node and meshwright have no safe algorithm in common.',
    cause: 'The sshd is very old, or accepts only algorithms that this client lacks, such as post-quantum ones.',
    hint: "Allow one of the named algorithms in the node's `sshd_config`.",
  },
  'ssh/host-key-unknown': {
    traits: ['maybe-locked', 'strange-key'],
    reason: 'host key unknown',
    summary: 'The host key of this node is not known yet.',
    cause: 'Neither cluster.lock nor known_hosts has a key for this address, so meshwright did not try to log in.',
    hint: prose`Compare the fingerprint and pin it: ${meshwright('enroll', its.node)}`,
  },
  'ssh/host-key-changed': {
    traits: ['maybe-locked', 'strange-key', 'changed-key'],
    reason: 'host key changed',
    summary: 'The node shows a different host key than the known one.',
    cause: 'Either the Mac was reinstalled or something is intercepting the connection.',
    hint: prose`Compare the key that the node shows now with the key on the Mac itself. If the Mac has this key: ${meshwright('enroll', its.node, '--replace')}. If a different Mac is there now: ${meshwright('replace', its.node)}`,
  },
  'ssh/host-key-unproven': {
    reason: 'host key not verified',
    summary: "The server shows the node's host key but cannot sign with it.",
    cause: 'Only the node itself has the private half of its key. meshwright did not try to log in.',
    hint: 'Something is intercepting the connection. Find out what answers at this address before you continue.',
  },
  'ssh/host-key-revoked': {
    reason: 'host key revoked',
    summary: 'The host key of this node has been revoked.',
    cause: "A `@revoked` line in known_hosts names the node's key.",
    hint: 'Give the Mac a new host key, or remove the `@revoked` line if it is a mistake.',
  },
  'ssh/certificate-authority': {
    reason: 'trusted only through a CA',
    summary: 'This node is trusted only through a certificate authority.',
    cause: 'known_hosts has a `@cert-authority` line but no plain key. This client does not support certificates.',
    hint: prose`Pin the node's plain host key: ${meshwright('enroll', its.node)}`,
  },
  'ssh/authentication-failed': {
    traits: ['login-refused'],
    reason: 'login refused',
    summary: 'The node accepts none of the offered keys.',
    cause: "None of the offered public keys is in this user's `authorized_keys`, or the user may not log in.",
    hint: prose`Install your key with the account's password: ${meshwright('enroll', its.node)}. Or add one of the offered keys to that user's ~/.ssh/authorized_keys on the Mac.`,
  },
  'ssh/no-key': {
    traits: ['maybe-locked'],
    reason: 'no SSH key available',
    summary: 'No SSH key is available to log in with.',
    cause:
      'There is no key file, and no agent holds a key. meshwright logs in with a key. It uses a password only to enroll, replace or unlock a Mac.',
    hint: 'Create a key with `ssh-keygen -t ed25519`, or set `ssh.identityFile` in cluster.yaml. `enroll` installs the key on the Mac.',
  },
  'ssh/key-unusable': {
    traits: ['maybe-locked'],
    reason: 'key file unusable',
    summary: 'A key file cannot be used.',
    cause: 'The file is missing, not readable or open to other users, or has no key that the built-in client supports.',
    hint: 'Correct the file, or choose another file with `ssh.identityFile` in cluster.yaml.',
  },
  'ssh/key-encrypted': {
    traits: ['maybe-locked'],
    reason: 'key encrypted, no agent',
    summary: 'A key file is encrypted, and no agent holds its key.',
    cause: 'meshwright does not ask for passphrases. It uses encrypted keys through the SSH agent.',
    hint: 'Add the key to the agent: `ssh-add FILE`',
  },
  'ssh/agent-unreachable': {
    traits: ['maybe-locked'],
    reason: 'ssh agent does not answer',
    summary: 'The SSH agent does not answer.',
    cause: '`SSH_AUTH_SOCK` or `IdentityAgent` names a socket, but no agent answers on it.',
    hint: 'Restart the agent, or unset `SSH_AUTH_SOCK`.',
  },
  'ssh/agent-declined': {
    traits: ['maybe-locked'],
    reason: 'ssh agent declined',
    summary: 'Your SSH agent did not sign the login request.',
    cause: 'The node accepts the key, but the agent gave no signature: the agent is locked, or the request was denied.',
    hint: "Confirm the agent's request, or unlock the agent (`ssh-add -X`). Then run this again.",
  },
  'ssh/proxyjump': {
    reason: 'behind a jump host',
    summary: 'This node is reached through a jump host, which the built-in client does not support.',
    cause: 'Your ssh_config sets `ProxyJump` or `ProxyCommand` for this address.',
    hint: 'Run meshwright on the jump host, or use an address that is directly reachable.',
  },
  'ssh/config-unreadable': {
    reason: 'ssh_config not readable',
    summary: 'Your SSH configuration could not be evaluated.',
    cause: '`ssh -G` exited with an error or did not answer in time.',
    hint: 'Run the named command yourself, and fix what it reports.',
  },
  'ssh/config-unsupported': {
    reason: 'ssh_config not supported',
    summary: 'Your SSH configuration uses an option that the built-in client does not support.',
    cause: '`RevokedHostKeys` is set. Ignoring it could accept a key that you revoked.',
    hint: 'Add the revoked keys to known_hosts as `@revoked` lines, or limit `RevokedHostKeys` to other hosts.',
  },
  'ssh/bad-address': {
    reason: 'no usable address',
    summary: 'This is not a valid node address.',
    cause: 'Host and user names have letters, digits and a few marks: others could be read as options or commands.',
    hint: 'Use a host name, an IPv4 address or an IPv6 address, and a plain user name.',
  },
  'ssh/password-refused': {
    traits: ['not-unlocked'],
    reason: 'password refused',
    summary: 'The node refused the password.',
    cause: 'It is another password, or the account may not log in. A refused password is never sent again.',
    hint: 'Correct the password at its source. If you are not sure which password is right, log in once by hand.',
  },
  'ssh/no-password-login': {
    reason: 'no password login',
    summary: 'The node does not accept passwords.',
    cause: 'Its sshd offers neither `password` nor `keyboard-interactive`. Nothing was sent.',
    hint: 'Add your public key by hand, or temporarily allow passwords in /etc/ssh/sshd_config.d on the Mac.',
  },
  'ssh/strange-prompt': {
    reason: 'unexpected prompt',
    summary: 'The node asks for something other than a password.',
    cause: 'With `keyboard-interactive`, a node may ask any question. meshwright answers only a single hidden prompt.',
    hint: 'Log in by hand with `ssh` and see what the node asks for.',
  },
  'ssh/locked-at-filevault': {
    traits: ['hands', 'locked', 'maybe-locked'],
    reason: 'locked at FileVault',
    summary: 'The node is waiting for its FileVault password.',
    cause: "After a restart with FileVault on, a Mac accepts only a local account's password until it is unlocked.",
    hint: "Unlock the node at the Mac, or log in once with `ssh` and a local account's password. Then run this again.",
  },
  'ssh/dropped': {
    traits: ['passing', 'dropped'],
    reason: 'connection lost',
    summary: 'The connection to the node was lost.',
    cause: 'The node or the network closed it, or three keep-alive messages in a row got no answer.',
    hint: 'Run it again: meshwright observes the node first.',
  },
  'ssh/exit-unknown': {
    reason: 'exit code unknown',
    summary: 'The exit status of the command on the node is unknown.',
    cause: 'Its exit code did not arrive, so the command may have succeeded or failed.',
    hint: prose`Check again: ${meshwright('facts')}`,
  },
  'ssh/sudo-needs-password': {
    traits: ['sudo-password'],
    reason: 'sudo asks for a password',
    summary: 'sudo on the node asks for a password.',
    cause: 'The user may use sudo, but only with a password. meshwright runs its scripts without a password.',
    hint: 'Add a sudo rule with `NOPASSWD` for this user, and check it with `visudo -cf`.',
  },
  'ssh/sudo-needs-terminal': {
    reason: 'sudo asks for a terminal',
    summary: 'sudo on the node requires a terminal.',
    cause: 'A sudoers file sets `requiretty` for this user, but meshwright runs its scripts without a terminal.',
    hint: 'Add `Defaults:USER !requiretty` to /etc/sudoers.d/meshwright on the node, and check the file with `visudo -cf`.',
  },
  'ssh/sudo-denied': {
    reason: 'sudo refused',
    summary: 'The user may not use sudo on the node.',
    cause: 'sudo refused: no sudo rule allows this user, or sudo itself is broken on the node.',
    hint: 'Set `ssh.user` to an administrator on the Mac, or add a sudo rule for this user.',
  },
} as const satisfies Record<string, SshEntry>;
