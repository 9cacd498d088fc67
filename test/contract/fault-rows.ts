import type { FaultName } from '../../src/sim/faults.ts';

/** Where a fault is set, and everything that the product must then say, in its order: `severity code subject`. */
export interface FaultRow {
  readonly target: string;
  readonly findings: readonly string[];
}

/** One row per fault: every host has to show it, and the product has to find it without being told. */
export const faultRows: Readonly<Record<FaultName, FaultRow>> = {
  'bridge-active': { target: 'studio-2', findings: ['error bridge/active node studio-2'] },
  'bridge-rebuilt': { target: 'studio-3', findings: ['error bridge/active node studio-3'] },
  'cable-40g': { target: 'studio-1:2', findings: ['error cabling/slow link studio-1:2 <-> studio-2:2'] },
  'cable-doubled': { target: 'studio-1:2', findings: ['warning cabling/doubled link studio-1:6 <-> studio-2:6'] },
  'cable-extra': {
    target: 'studio-1:5,studio-3:6',
    findings: ['warning cabling/doubled link studio-1:5 <-> studio-3:6'],
  },
  'cable-foreign': { target: 'studio-1:5', findings: ['warning cabling/foreign-mac receptacle studio-1:5'] },
  'cable-missing': { target: 'studio-1:3', findings: ['error cabling/missing link studio-1:3 <-> studio-3:2'] },
  'cable-swapped': {
    target: 'studio-4',
    findings: [
      'error cabling/elsewhere link studio-1:4 <-> studio-4:2',
      'error cabling/elsewhere link studio-2:4 <-> studio-4:3',
    ],
  },
  'clock-skew': { target: 'studio-3', findings: ['warning clock/offset node studio-3'] },
  'connection-drop': { target: 'studio-2', findings: ['error ssh/dropped node studio-2'] },
  'dhcp-reset': { target: 'studio-2:3', findings: ['error address/by-dhcp node studio-2'] },
  'disk-full': { target: 'studio-1', findings: ['warning disk/low node studio-1'] },
  // The next six cannot be seen before something is written, restarted or run over RDMA.
  'no-full-disk-access': { target: 'studio-1', findings: [] },
  'no-return': { target: 'studio-1', findings: [] },
  'idle-dead-port': { target: 'studio-1:2', findings: [] },
  'pd-leak': { target: 'studio-1', findings: [] },
  'rdma-hang': { target: 'studio-1', findings: [] },
  'slow-shutdown': { target: 'studio-1', findings: [] },
  'filevault-locked': { target: 'studio-1', findings: ['error ssh/locked-at-filevault node studio-1'] },
  'gid-missing': { target: 'studio-1', findings: ['error rdma/no-address node studio-1'] },
  'hub-between': { target: 'studio-1:2', findings: ['warning cabling/through-hub link studio-1:2 <-> studio-2:2'] },
  'hub-hides-peer': { target: 'studio-1:2', findings: ['warning cabling/one-sided link studio-1:2 <-> studio-2:2'] },
  'internet-sharing': {
    target: 'studio-1:2',
    findings: ['error network/default-route-over-cable receptacle studio-1:2'],
  },
  'macos-old': { target: 'studio-4', findings: ['error macos/outside-accept node studio-4'] },
  'power-wrong': { target: 'studio-1', findings: ['error power/settings node studio-1'] },
  'rdma-disabled': { target: 'studio-3', findings: ['error rdma/disabled node studio-3'] },
  'sudo-denied': { target: 'studio-2', findings: ['warning sudo/needs-password node studio-2'] },
  'wrong-host-key': { target: 'studio-2', findings: ['error ssh/host-key-changed node studio-2'] },
  'wrong-mac': { target: 'studio-1,studio-2', findings: ['error identity/same-mac nodes studio-1, studio-2'] },
};
