import type { ResourceKind } from '../../src/rack/resource-kind.ts';
import { first, second } from './converge-file.ts';

/** A change that a person makes as root on the second node. */
export interface PersonChange {
  readonly what: string;
  readonly make: string;
}

/** An obstacle of a resource that only a person can remove. */
export interface Hindrance {
  readonly of: ResourceKind;
  /** The cause: a fault of the simulator, or a change as root that only a manual step reverts. */
  readonly fault: readonly [string, string] | PersonChange;
  /** Drift made with the obstacle, so that a change has to wait for it. */
  readonly beside?: string;
  /** Codes of the blockers in the plan. */
  readonly blockers: readonly string[];
  /** Resources that wait for the blockers, with their node, as patterns. */
  readonly waiting: readonly string[];
  /** True if a manual step at the rack repairs it; otherwise the test clears the fault. */
  readonly isForHands: boolean;
  /** Changes of the apply after the repair, with their node, as patterns. */
  readonly afterwards?: readonly string[];
}

/** One obstacle on the second node for each resource that makes no changes itself. */
export const hindrances: readonly Hindrance[] = [
  {
    of: 'identity',
    fault: ['wrong-mac', second],
    // The wrong Mac also has a different account.
    blockers: ['identity/same-mac', 'accounts/other'],
    waiting: [
      `${first} thunderbolt-link`,
      `${second} accounts/*`,
      // The limit of the wrong Mac, which has more memory.
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
      what: 'automatic login is on',
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
