import type { CodeEntry } from '../../code-entry.ts';

/** Codes about pinning a host key, and about what is put on a Mac so that it can be reached and changed. */
export const enrollCodes = {
  'enroll/fingerprint-differs': {
    severity: 'error',
    summary: 'The host key is not the one that was expected.',
    cause: 'The fingerprint given with --expect belongs to another key: another Mac answers, or somebody in between.',
    hint: 'Compare on the Mac itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
  },
  'enroll/sudo-unknown': {
    severity: 'error',
    summary: 'Nobody can say whether sudo works on this node.',
    cause: '`sudo -n /bin/sh -s` neither ran nor was refused in words that sudo is known to use.',
    hint: 'Log in and type: sudo -n /bin/sh -s </dev/null; echo $?',
  },
  'enroll/sudo-refused-password': {
    severity: 'error',
    summary: 'sudo refused the password.',
    cause: 'The account logs in, and sudo on the Mac takes another password, or asks for none of this account.',
    hint: 'Type `sudo -v` on the Mac as that account, then correct the password at its source.',
  },
  'enroll/not-installed': {
    severity: 'error',
    summary: 'The Mac did not take the key or the rule of sudo.',
    cause: 'A tool on the Mac refused, or visudo did not find the rule right; then it was put nowhere.',
    hint: 'Do what the text names, then run this again: it goes on from what is there.',
  },
  'enroll/mac-unseen': {
    severity: 'error',
    summary: 'Nobody could see which Mac it is.',
    cause: 'system_profiler did not name a serial number and a hardware UUID, so the Mac may be one of another node.',
    hint: 'Log in and type: system_profiler SPHardwareDataType; then run this again.',
  },
  'enroll/pins-changed': {
    severity: 'error',
    summary: 'Somebody else has pinned another key for this address meanwhile.',
    cause: 'The lock file had other keys for it when this run began than when the key was to be written.',
    hint: 'Look at the lock file, then run this again.',
  },
  'enroll/no-such-node': {
    severity: 'error',
    summary: 'This is neither a node of the file nor an address.',
    cause: 'A word without a dot or colon names a node of the cluster file, and the file has none of that name.',
    hint: 'Name a node of the file, or an address such as studio-5.lan.',
  },
} as const satisfies Record<string, CodeEntry>;
