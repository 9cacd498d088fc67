import { its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about pinning a host key, about access to a Mac, and about Macs that wait at FileVault for a password. */
export const accessCodes = {
  'enroll/fingerprint-differs': {
    summary: 'The host key is not the one that was expected.',
    cause: 'The fingerprint given with --expect belongs to another key: another Mac answers, or somebody in between.',
    hint: 'Compare on the Mac itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
  },
  'enroll/sudo-unknown': {
    summary: 'Nobody can say whether sudo works on this node.',
    cause: '`sudo -n /bin/sh -s` neither ran nor was refused in words that sudo is known to use.',
    hint: 'Log in and type: sudo -n /bin/sh -s </dev/null; echo $?',
  },
  'enroll/sudo-refused-password': {
    summary: 'sudo refused the password.',
    cause: 'The account logs in, and sudo on the Mac takes another password, or asks for none of this account.',
    hint: 'Type `sudo -v` on the Mac as that account, then correct the password at its source.',
  },
  'enroll/not-installed': {
    summary: 'The Mac did not take the key or the rule of sudo.',
    cause: 'A tool on the Mac refused, or visudo did not find the rule right; then it was put nowhere.',
    hint: 'Do what the text names, then run this again: it goes on from what is there.',
  },
  'enroll/mac-unseen': {
    summary: 'Nobody could see which Mac it is.',
    cause: 'system_profiler did not name a serial number and a hardware UUID, so the Mac may be one of another node.',
    hint: 'Log in and type: system_profiler SPHardwareDataType; then run this again.',
  },
  'enroll/pins-changed': {
    summary: 'Somebody else has pinned another key for this address meanwhile.',
    cause: 'The lock file had other keys for it when this run began than when the key was to be written.',
    hint: 'Look at the lock file, then run this again.',
  },
  'enroll/no-such-node': {
    summary: 'This is neither a node of the file nor an address.',
    cause: 'A word without a dot or colon names a node of the cluster file, and the file has none of that name.',
    hint: 'Name a node of the file, or an address such as studio-5.lan.',
  },
  'unlock/no-source': {
    summary: 'Nobody said where the FileVault password comes from.',
    cause: 'The cluster file names no source for it, the command line neither, and there is no terminal to ask at.',
    hint: 'Name a source: `password: { env: NAME }` under `ssh` in cluster.yaml, or --password-env NAME.',
    hands: true,
  },
  'unlock/still-locked': {
    summary: 'The node took the password and is still locked.',
    cause: 'The password is that of an account which may not unlock the disk, or the Mac has not done it yet.',
    hint: 'Type it at the Mac. On it, afterwards: sudo fdesetup list shows which accounts may unlock the disk.',
    hands: true,
  },
  'unlock/no-return': {
    summary: 'The node was unlocked and did not come back.',
    cause: 'Its normal sshd was not seen after the password: macOS did not start, or the network is not up.',
    hint: prose`Look at its screen. When it is up: ${meshwright('status')}`,
  },
  'reboot/ends-at-filevault': {
    severity: 'warning',
    summary: 'A restart of this Mac ends at FileVault.',
    cause: 'FileVault is on: after its restart the Mac waits for the password of an account before macOS starts.',
    hint: prose`Have the password at hand: ${meshwright('unlock', its.node)}`,
  },
  'unlock/refused-before': {
    summary: 'The last password was refused, so it is not sent again by itself.',
    cause: 'A wrong password that is repeated makes a Mac slower to answer, and locks accounts at last.',
    hint: prose`Correct the password at its source, then: ${meshwright('unlock', its.node)}`,
    hands: true,
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about reaching a node. */
export const sshCodes = {
  'ssh/unreachable': {
    summary: 'The node did not answer.',
    cause: 'No route, no name, or no answer before the connect deadline.',
    hint: 'Check that the Mac is on and that Remote Login is enabled; then try `ssh` to the same address.',
  },
  'ssh/refused': {
    summary: 'The node refused the connection.',
    cause:
      'The Mac answers, but nothing listens on this port: Remote Login is off, the port is another one, or macOS is just starting or going down.',
    hint: 'On the Mac: System Settings > General > Sharing > Remote Login; or correct ssh.port in cluster.yaml.',
  },
  'ssh/timed-out': {
    summary: 'The node did not answer in time.',
    cause: 'It took the connection, and then the handshake, the login or the command did not end before the deadline.',
    hint: 'Try `ssh -v` to the same address; an overloaded Mac or a firewall in between looks like this. A slow command needs more: --deadline 2m',
  },
  'ssh/not-ssh': {
    summary: 'What answers is not an SSH server.',
    cause: 'The first bytes from this address and port are no SSH identification.',
    hint: 'Check host and port of this node in cluster.yaml.',
  },
  'ssh/too-many-connections': {
    summary: 'The node turns new connections away for now.',
    cause: 'sshd has reached MaxStartups, or it penalises this address for earlier failed logins (PerSourcePenalties).',
    hint: 'Wait a minute before the next attempt: every further failure makes the penalty longer.',
  },
  'ssh/no-common-algorithm': {
    summary: 'The node and meshwright share no algorithm that is safe.',
    cause: 'The sshd is very old, or hardened beyond what the built-in client speaks (post-quantum only, for example).',
    hint: 'Allow one of the named algorithms in the sshd_config of the node.',
  },
  'ssh/host-key-unknown': {
    summary: 'The host key of this node is not known yet.',
    cause: 'Neither cluster.lock nor known_hosts has a key for this address, so nothing was offered to it.',
    hint: prose`Compare the fingerprint and pin it: ${meshwright('enroll', its.node)}`,
  },
  'ssh/host-key-changed': {
    summary: 'The host key of this node is not the one that is known.',
    cause: 'Either the Mac was reinstalled or something stands between you and it.',
    hint: prose`Compare on the Mac itself; if the keys agree: ${meshwright('enroll', its.node, '--replace')}. If another Mac stands there now: ${meshwright('replace', its.node)}`,
  },
  'ssh/host-key-unproven': {
    summary: 'What answers shows the host key of the node and cannot sign with it.',
    cause: 'The public half is known to everybody; only the node itself has the private one. Nothing was offered.',
    hint: 'Something stands between you and the node: find out what answers at this address before you go on.',
  },
  'ssh/host-key-revoked': {
    summary: 'The host key of this node has been revoked.',
    cause: 'A @revoked line of known_hosts names the key that the node shows.',
    hint: 'Give the Mac a new host key, or remove the @revoked line if it is a mistake.',
  },
  'ssh/certificate-authority': {
    summary: 'This node is trusted through a certificate authority only.',
    cause: 'known_hosts has a @cert-authority line for it and no plain key; the built-in client reads no certificates.',
    hint: prose`Pin the plain host key of the node: ${meshwright('enroll', its.node)}`,
  },
  'ssh/authentication-failed': {
    summary: 'The node accepts none of the keys that were offered.',
    cause: 'No offered public key is in the authorized_keys of this user, or the user may not log in.',
    hint: prose`Put your key there, with the password of the account: ${meshwright('enroll', its.node)}. Or add one of the offered keys to ~/.ssh/authorized_keys of that user on the Mac.`,
  },
  'ssh/no-key': {
    summary: 'There is no key to log in with.',
    cause:
      'No key file exists and no agent holds a key. Nodes are logged in to by key; a password is used only where a Mac is enrolled, replaced or unlocked.',
    hint: 'Make a key with ssh-keygen -t ed25519, or name one as ssh.identityFile in cluster.yaml; enroll puts it on the Mac.',
  },
  'ssh/key-unusable': {
    summary: 'A key file cannot be used.',
    cause: 'The file is missing, not readable, open to other users, or holds no key that the built-in client can use.',
    hint: 'Correct the file, or name another one as ssh.identityFile in cluster.yaml.',
  },
  'ssh/key-encrypted': {
    summary: 'A key file is encrypted and no agent holds its key.',
    cause: 'meshwright asks for no passphrases: an encrypted key is used through the ssh agent.',
    hint: 'Load it once: ssh-add FILE',
  },
  'ssh/agent-unreachable': {
    summary: 'The ssh agent does not answer.',
    cause: 'SSH_AUTH_SOCK or IdentityAgent names a socket on which no agent replies.',
    hint: 'Start the agent again, or unset SSH_AUTH_SOCK.',
  },
  'ssh/agent-declined': {
    summary: 'Your ssh agent did not sign.',
    cause:
      'The node would have gone on, but the agent holds the key and gave no signature: it is locked, or somebody said no.',
    hint: 'Confirm the request of the agent, or unlock it (ssh-add -X), then run this again.',
  },
  'ssh/proxyjump': {
    summary: 'This node is reached through a jump, which the built-in client cannot do.',
    cause: 'Your ssh_config has ProxyJump or ProxyCommand for this address.',
    hint: 'Run meshwright on the jump host, or name an address that is reachable directly.',
  },
  'ssh/config-unreadable': {
    summary: 'Your ssh configuration could not be evaluated.',
    cause: '`ssh -G` ended with an error or did not answer in time.',
    hint: 'Run the named command yourself and correct what it complains about.',
  },
  'ssh/config-unsupported': {
    summary: 'Your ssh configuration asks for something that the built-in client cannot do.',
    cause: 'RevokedHostKeys is set: ignoring it could accept a key that you have revoked.',
    hint: 'Put the revoked keys into known_hosts as @revoked lines, or limit RevokedHostKeys to other hosts.',
  },
  'ssh/bad-address': {
    summary: 'This cannot be the address of a node.',
    cause:
      'Host and user may hold only letters, digits and a few marks, so that they never become an option or a command.',
    hint: 'Write a host name, an IPv4 address or an IPv6 address, and a plain user name.',
  },
  'ssh/password-refused': {
    summary: 'The node refused the password.',
    cause:
      'It is not the password of that account there, or the account may not log in. It is never sent twice by itself.',
    hint: 'Correct the password at its source. Log in once by hand, if you are not sure which one is right.',
  },
  'ssh/no-password-login': {
    summary: 'The node takes no password.',
    cause: 'Its sshd offers neither `password` nor `keyboard-interactive`; nothing was sent.',
    hint: 'Add your public key by hand, or allow passwords in /etc/ssh/sshd_config.d on the Mac for as long as needed.',
  },
  'ssh/strange-prompt': {
    summary: 'The node asks for something else than a password.',
    cause: 'With `keyboard-interactive` a node may ask anything; only one hidden prompt is answered.',
    hint: 'Log in by hand with `ssh` and see what it asks.',
  },
  'ssh/locked-at-filevault': {
    summary: 'The node waits for its FileVault password.',
    cause:
      'After a restart with FileVault on, a Mac accepts only the password of a local account until it is unlocked.',
    hint: 'Unlock it at the Mac, or log in once with `ssh` and the password of a local account; then run this again.',
    hands: true,
  },
  'ssh/dropped': {
    summary: 'The connection to the node broke off.',
    cause: 'The node or the network ended it, or three signs of life in a row stayed unanswered.',
    hint: 'Run it again: what was done is seen by looking at the node, not by remembering.',
  },
  'ssh/exit-unknown': {
    summary: 'Nobody knows how the command on the node ended.',
    cause: 'Its exit code did not arrive: it was neither success nor failure as far as anybody can tell.',
    hint: prose`Look again: ${meshwright('facts')}`,
  },
  'ssh/sudo-needs-password': {
    summary: 'sudo on the node asks for a password.',
    cause: 'The user may use sudo, but not without a password, and meshwright never types one.',
    hint: 'Add a sudoers rule with NOPASSWD for this user (checked with visudo -cf).',
  },
  'ssh/sudo-needs-terminal': {
    summary: 'sudo on the node runs on a terminal only.',
    cause: 'A sudoers file has requiretty for this user; meshwright runs its scripts without a terminal.',
    hint: 'Add "Defaults:USER !requiretty" to /etc/sudoers.d/meshwright on the node (checked with visudo -cf).',
  },
  'ssh/sudo-denied': {
    summary: 'The user may not use sudo on the node.',
    cause: 'sudo refused: the user stands in no sudoers rule, or sudo itself is broken there.',
    hint: 'Use an administrator of the Mac as ssh.user, or add a sudoers rule for this user.',
  },
} as const satisfies Record<string, CodeEntry>;
