import type { doctorCodes } from '../../diagnostics/codes/rack/codes-doctor.ts';
import type { FindingRole } from '../../rack/define-rule.ts';
import { definedCodes } from './rules.ts';

/** A code of the doctor. */
export type DoctorCode = keyof typeof doctorCodes;

/** The role of every code that has no definition with its rule; the type refuses a code that is forgotten. */
export const findingRoles: Readonly<Record<DoctorCode, FindingRole>> = {
  'fact/unknown': 'told',
  'hold/held': 'told',
  'hold/expired': 'told',
  'macos/outside-accept': { blocks: 'macos' },
  'macos/not-the-wish': 'told',
  'macos/versions-differ': { blocks: 'macos' },
  'macos/builds-differ': 'told',
  'macos/panicked': 'told',
  'identity/wrong-mac': { blocks: 'identity' },
  'identity/same-mac': { blocks: 'identity' },
  'bridge/active': { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
  'bridge/comes-back': { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
  'bridge/perhaps-active': 'told',
  'bridge/receptacle-bridged': { blocks: 'thunderbolt-bridge' },
  'bridge/loop': { blocks: 'thunderbolt-link', when: 'bridge-stays-else-told' },
  'memory/wired-limit': 'converged',
  'memory/wired-limit-too-large': { blocks: 'wired-limit' },
  'filevault/differs': { blocks: 'filevault' },
  'sudo/needs-password': { blocks: 'sudo' },
  'sudo/denied': { blocks: 'sudo' },
  'accounts/absent': { blocks: 'accounts' },
  'accounts/other': { blocks: 'accounts' },
  'accounts/can-become-root': { blocks: 'accounts' },
  'accounts/shared-group': { blocks: 'accounts' },
  'accounts/login': 'told',
  'clock/offset': 'converged-by-clock',
  'clock/this-computer': 'told',
  'disk/low': 'told',
  'address/pool-overlap': { blocks: 'link-address' },
  'address/by-dhcp': 'converged-by-address',
  'address/ipv4-off': { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
  'network/default-route-over-cable': 'converged-by-address',
  'network/lease-over-cable': 'converged-by-address',
  'network/suspected-lease': 'converged-by-address',
  'network/service-order': 'converged',
  'network/unconfirmed-change': 'converged',
  'network/no-full-disk-access': 'told',
  'network/suspected-tcp-panic': 'told',
  'network/foreign-daemon': { blocks: 'foreign-daemon' },
  'network/foreign-daemon-there': 'converged',
  'network/foreign-daemon-adopted': 'told',
  'network/cables-adopted': { blocks: 'link-address' },
  'cabling/missing': { blocks: 'thunderbolt-link' },
  'cabling/elsewhere': { blocks: 'thunderbolt-link' },
  'cabling/slow': { blocks: 'thunderbolt-link', when: 'rdma-needed' },
  'cabling/speed-unknown': 'told',
  'cabling/one-sided': { blocks: 'thunderbolt-link' },
  'cabling/through-hub': { blocks: 'thunderbolt-link' },
  'cabling/no-answer': { blocks: 'thunderbolt-link' },
  'cabling/no-receptacle': { blocks: 'thunderbolt-link' },
  'cabling/undeclared': 'told',
  'cabling/doubled': 'told',
  'cabling/foreign-mac': 'told',
  'cabling/unidentified-mac': 'told',
  'rdma/no-thunderbolt-5': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/macos-too-old': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/disabled': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/off-after-restart': 'told',
  'rdma/restart-pending': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/no-device': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/port-down': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/port-not-active': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/interface-down': { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
  'rdma/bridged': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/no-address': { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
  'rdma/other-device': 'told',
  'rdma/held': 'told',
  'rdma/left-in-kernel': 'told',
  'rdma/process-stuck': { blocks: 'rdma', when: 'rdma-needed' },
  'rdma/no-gid': { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
};

const isDoctorCode = (code: string): code is DoctorCode => Object.hasOwn(findingRoles, code);

/** The role of a code. Of the failures to observe a node only a locked FileVault is work for hands; the others are told. */
export function roleOf(code: string): FindingRole {
  if (isDoctorCode(code)) {
    return findingRoles[code];
  }
  const defined = definedCodes[code];
  if (defined !== undefined) return defined.role;
  return code === 'ssh/locked-at-filevault' ? { blocks: 'filevault' } : 'told';
}
