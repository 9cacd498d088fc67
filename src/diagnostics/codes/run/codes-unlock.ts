import { its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about Macs that wait at FileVault for a password. */
export const unlockCodes = {
  'unlock/no-source': {
    severity: 'error',
    summary: 'Nobody said where the FileVault password comes from.',
    cause: 'The cluster file names no source for it, the command line neither, and there is no terminal to ask at.',
    hint: 'Name a source: `password: { env: NAME }` under `ssh` in cluster.yaml, or --password-env NAME.',
    hands: true,
  },
  'unlock/still-locked': {
    severity: 'error',
    summary: 'The node took the password and is still locked.',
    cause: 'The password is that of an account which may not unlock the disk, or the Mac has not done it yet.',
    hint: 'Type it at the Mac. On it, afterwards: sudo fdesetup list shows which accounts may unlock the disk.',
    hands: true,
  },
  'unlock/no-return': {
    severity: 'error',
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
    severity: 'error',
    summary: 'The last password was refused, so it is not sent again by itself.',
    cause: 'A wrong password that is repeated makes a Mac slower to answer, and locks accounts at last.',
    hint: prose`Correct the password at its source, then: ${meshwright('unlock', its.node)}`,
    hands: true,
  },
} as const satisfies Record<string, CodeEntry>;
