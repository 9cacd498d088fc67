import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';
import { sampleOf } from '../sample.ts';
import type { SimHost } from './sim-host.ts';

/** The target of a fault, and all expected findings of the product, in order: `severity code subject`. */
export interface FaultRow {
  readonly target: string;
  readonly findings: readonly string[];
  /** The findings on a host whose Macs fall silent without power, if they differ. */
  readonly inSilence?: readonly string[];
  /** The Mac reboots and loses its wired limit, which has to be set again. */
  readonly restarts?: true;
}

/** The faults that a slow test sets one by one: one in five at a time, and all in `npm run nightly`. */
export const triedFaults: readonly FaultName[] = sampleOf(faultNames, {
  few: Math.floor(faultNames.length / 5),
  oneIn: 5,
});

/** The expected findings for a fault on this host. */
export const findingsOn = (fault: FaultName, host: SimHost): readonly string[] => {
  const { findings, inSilence } = faultRows[fault];
  return host === 'namespace' ? (inSilence ?? findings) : findings;
};

/** One row per fault. Every host must show it, and the product must find it without a hint. */
export const faultRows: Readonly<Record<FaultName, FaultRow>> = {
  'bridge-active': { target: 'studio-2', findings: ['error bridge/active node studio-2'] },
  'build-differs': { target: 'studio-1', findings: [] },
  'update-fails': { target: 'studio-1', findings: [] },
  'update-resets': { target: 'studio-1', findings: [] },
  'update-stuck': { target: 'studio-1', findings: [] },
  'bridge-rebuilt': { target: 'studio-3', findings: ['error bridge/active node studio-3'] },
  'cable-40g': { target: 'studio-1:2', findings: ['error cabling/slow link studio-1:2 <-> studio-2:2'] },
  'cable-demoted': { target: 'studio-1:2', findings: ['error address/no-carrier link studio-1:2 <-> studio-2:2'] },
  'cable-doubled': { target: 'studio-1:2', findings: ['warning cabling/doubled link studio-1:6 <-> studio-2:6'] },
  'cable-extra': {
    target: 'studio-1:5,studio-3:6',
    findings: ['warning cabling/doubled link studio-1:5 <-> studio-3:6'],
  },
  'cable-foreign': { target: 'studio-1:5', findings: ['warning cabling/foreign-mac receptacle studio-1:5'] },
  'cable-missing': { target: 'studio-1:3', findings: ['error cabling/missing link studio-1:3 <-> studio-3:2'] },
  // Only a measurement can find it.
  'cable-slow': { target: 'studio-1:2', findings: [] },
  'cable-swapped': {
    target: 'studio-4',
    findings: [
      'error cabling/elsewhere link studio-1:4 <-> studio-4:2',
      'error cabling/elsewhere link studio-2:4 <-> studio-4:3',
    ],
  },
  'clock-skew': { target: 'studio-3', findings: ['warning clock/offset node studio-3'] },
  'connection-drop': { target: 'studio-2', findings: ['error ssh/dropped node studio-2'] },
  crash: {
    target: 'studio-1',
    findings: ['error memory/wired-limit node studio-1', 'notice macos/panicked node studio-1'],
    restarts: true,
  },
  'daemon-conflict': {
    target: 'studio-3',
    findings: ['error address/by-dhcp node studio-3', 'error network/foreign-daemon-there node studio-3'],
  },
  'dhcp-reset': { target: 'studio-2:3', findings: ['error address/by-dhcp node studio-2'] },
  'disk-full': { target: 'studio-1', findings: ['warning disk/low node studio-1'] },
  // The next eight cannot be observed before something is written, restarted or run over RDMA.
  'falls-back': { target: 'studio-1', findings: [] },
  'gid-second': { target: 'studio-1', findings: [] },
  'no-full-disk-access': { target: 'studio-1', findings: [] },
  'no-return': { target: 'studio-1', findings: [] },
  'idle-dead-port': { target: 'studio-1:2', findings: [] },
  'pd-leak': { target: 'studio-1', findings: ['warning rdma/left-in-kernel node studio-1'] },
  'rdma-hang': { target: 'studio-1', findings: [] },
  'slow-shutdown': { target: 'studio-1', findings: [] },
  'wired-leak': { target: 'studio-1', findings: [] },
  'filevault-locked': { target: 'studio-1', findings: ['error ssh/locked-at-filevault node studio-1'], restarts: true },
  'gid-missing': { target: 'studio-1', findings: ['error rdma/no-address node studio-1'] },
  'hub-between': { target: 'studio-1:2', findings: ['warning cabling/through-hub link studio-1:2 <-> studio-2:2'] },
  'hub-hides-peer': { target: 'studio-1:2', findings: ['warning cabling/one-sided link studio-1:2 <-> studio-2:2'] },
  'internet-sharing': {
    target: 'studio-1:2',
    findings: ['error network/default-route-over-cable receptacle studio-1:2'],
  },
  'ipv4-off': { target: 'studio-2:3', findings: ['error address/ipv4-off node studio-2'] },
  'mac-replaced': { target: 'studio-2', findings: ['error ssh/host-key-changed node studio-2'], restarts: true },
  'macos-new': { target: 'studio-4', findings: ['error macos/versions-differ node studio-4'] },
  'macos-old': { target: 'studio-4', findings: ['error macos/outside-accept node studio-4'] },
  'power-cut': {
    target: 'studio-2',
    findings: ['error ssh/refused node studio-2'],
    restarts: true,
    inSilence: ['error ssh/timed-out node studio-2'],
  },
  'power-wrong': { target: 'studio-1', findings: ['error power/settings node studio-1'] },
  'rdma-held': { target: 'studio-1', findings: ['warning rdma/held node studio-1'] },
  'verbs-hang': {
    target: 'studio-1',
    findings: ['error rdma/process-stuck node studio-1', 'warning fact/unknown node studio-1'],
  },
  'rdma-disabled': { target: 'studio-3', findings: ['error rdma/disabled node studio-3'] },
  'rdma-waiting': { target: 'studio-3', findings: ['error rdma/no-device node studio-3'] },
  'remote-login-off': { target: 'studio-2', findings: ['error ssh/refused node studio-2'] },
  'local-network-denied': { target: 'studio-1', findings: [] },
  'restart-storm': { target: 'studio-1', findings: [] },
  'rank-killed': { target: 'studio-1', findings: [] },
  'rank-stopped': { target: 'studio-1', findings: [] },
  'swap-full': { target: 'studio-1', findings: ['warning memory/swap-in-use node studio-1'] },
  'tcp-load-panic': { target: 'studio-1', findings: [] },
  'not-enrolled': { target: 'studio-2', findings: ['error ssh/authentication-failed node studio-2'] },
  'sudo-denied': { target: 'studio-2', findings: ['warning sudo/needs-password node studio-2'] },
  'wrong-host-key': { target: 'studio-2', findings: ['error ssh/host-key-changed node studio-2'] },
  'wrong-mac': { target: 'studio-1,studio-2', findings: ['error identity/same-mac nodes studio-1, studio-2'] },
};
