import type { ResourceKind } from '../../src/rack/resource-kind.ts';
import { first, second } from './converge-file.ts';

/** What somebody does as root on the second node. */
export interface Habit {
  readonly what: string;
  readonly make: string;
}

/** Something of a resource that nobody but a person can change. */
export interface Hindrance {
  readonly of: ResourceKind;
  /** What breaks it: a fault of the simulator, or what somebody does as root, which only hands mend. */
  readonly fault: readonly [string, string] | Habit;
  /** Made beside it, so that there is something that it keeps waiting. */
  readonly beside?: string;
  /** Codes of the blockers that the plan then has. */
  readonly blockers: readonly string[];
  /** What waits for them, by pattern, with its node. */
  readonly waiting: readonly string[];
  /** Whether the hands at the rack mend it; else somebody undoes the fault. */
  readonly isForHands: boolean;
  /** What apply has to do after it is mended, by pattern, with its node. */
  readonly afterwards?: readonly string[];
}

/** One for each resource that has nothing to change, on the second node. */
export const hindrances: readonly Hindrance[] = [
  {
    of: 'identity',
    fault: ['wrong-mac', second],
    // It has another account, too.
    blockers: ['identity/same-mac', 'accounts/other'],
    waiting: [
      `${first} thunderbolt-link`,
      `${second} accounts/*`,
      // The limit of the other Mac, which has more memory.
      `${second} keeper/files`,
      `${second} link-address/*/kept`,
      `${second} link-address/*/kept`,
      `${second} link-address/*/live`,
      `${second} names/bonjour`,
      `${second} names/computer`,
      `${second} names/host`,
    ],
    isForHands: false,
  },
  { of: 'macos', fault: ['macos-old', second], blockers: ['macos/outside-accept'], waiting: [], isForHands: false },
  {
    of: 'filevault',
    fault: ['filevault-locked', second],
    blockers: ['ssh/locked-at-filevault'],
    waiting: [`${first} placement/*`, `${first} thunderbolt-link`],
    isForHands: true,
    afterwards: [`${first} placement/*`],
  },
  {
    of: 'sudo',
    fault: ['sudo-denied', second],
    beside: 'power/sleep',
    blockers: ['sudo/needs-password'],
    waiting: [`${second} power/sleep`],
    isForHands: false,
    afterwards: [`${second} power/sleep`],
  },
  {
    of: 'login-window',
    fault: {
      what: 'somebody is logged in by itself',
      make: '"$R/usr/bin/defaults" write "$R/Library/Preferences/com.apple.loginwindow" autoLoginUser -string ana',
    },
    blockers: ['login/differs'],
    waiting: [],
    isForHands: true,
  },
  {
    of: 'rdma',
    fault: ['rdma-disabled', second],
    blockers: ['rdma/disabled'],
    waiting: [],
    isForHands: true,
    afterwards: [`${first} placement/*`],
  },
  {
    of: 'thunderbolt-link',
    fault: ['cable-missing', `${second}:2`],
    blockers: ['cabling/missing'],
    waiting: [`${first} placement/*`],
    isForHands: true,
  },
  {
    of: 'thunderbolt-link',
    fault: ['cable-swapped', `${second}:2,${second}:3`],
    blockers: ['cabling/elsewhere'],
    waiting: [`${first} placement/*`],
    isForHands: true,
  },
];
