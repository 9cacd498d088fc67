import type { FaultName } from '../../src/sim/faults/faults.ts';

/**
 * The cure of a fault: `apply` by itself · `hands`, a manual step at the rack, after which apply does the rest · a
 * `person`, who repairs the cause; until then, apply changes nothing about it · a `verb`, because the fault appears
 * only when something is written, restarted or run over RDMA; that command's test tries the cure.
 */
export type Cure =
  | { readonly kind: 'apply' | 'hands'; readonly target: string }
  | { readonly kind: 'person'; readonly target: string; readonly what: string }
  | { readonly kind: 'verb'; readonly what: string; readonly tried: string };

/** One row per fault, for the pair studio-1:4 <-> studio-4:2 of the tests that converge. */
export const faultCures: Readonly<Record<FaultName, Cure>> = {
  'bridge-active': { kind: 'apply', target: 'studio-4' },
  'bridge-rebuilt': { kind: 'apply', target: 'studio-4' },
  'cable-40g': { kind: 'hands', target: 'studio-1:4' },
  'cable-doubled': { kind: 'hands', target: 'studio-1:4' },
  'cable-extra': { kind: 'hands', target: 'studio-1:5,studio-4:6' },
  'cable-foreign': { kind: 'hands', target: 'studio-1:5' },
  'cable-missing': { kind: 'hands', target: 'studio-1:4' },
  'cable-slow': {
    kind: 'verb',
    what: 'measure the cable with the native probe, and replace it',
    tried: 'test/contract/verbs-behaviours.ts',
  },
  'cable-swapped': { kind: 'hands', target: 'studio-4:2,studio-4:3' },
  'clock-skew': { kind: 'person', target: 'studio-4', what: 'set the clock of that Mac' },
  'connection-drop': {
    kind: 'person',
    target: 'studio-4',
    what: 'repair the connection to that Mac; the other Macs converge',
  },
  crash: {
    kind: 'verb',
    what: '`status` shows what stopped with it; `apply` starts it again',
    tried: 'test/cli/crashes.slow.test.ts',
  },
  'daemon-conflict': { kind: 'apply', target: 'studio-4' },
  'dhcp-reset': { kind: 'apply', target: 'studio-4:2' },
  'disk-full': {
    kind: 'person',
    target: 'studio-4',
    what: 'free some space; a copy that did not fit continues where it stopped',
  },
  'filevault-locked': {
    kind: 'verb',
    what: '`unlock` with the password of its account, or a person at its keyboard; `apply` does the rest',
    tried: 'test/cli/unlock.slow.test.ts',
  },
  'gid-missing': { kind: 'apply', target: 'studio-1:4' },
  'hub-between': { kind: 'hands', target: 'studio-1:4' },
  'hub-hides-peer': { kind: 'hands', target: 'studio-1:4' },
  'idle-dead-port': {
    kind: 'verb',
    what: '`doctor` suspects it after a failed start or token; `reboot` of both Macs',
    tried: 'test/cli/doctor-suspects.slow.test.ts',
  },
  'internet-sharing': { kind: 'apply', target: 'studio-4:2' },
  'ipv4-off': { kind: 'apply', target: 'studio-4:2' },
  'mac-replaced': {
    kind: 'verb',
    what: '`replace`, then `apply`',
    tried: 'test/cli/replace.slow.test.ts',
  },
  'macos-new': { kind: 'person', target: 'studio-4', what: 'install the same macOS on the other Macs' },
  'macos-old': { kind: 'person', target: 'studio-4', what: 'update macOS, or accept that version in the file' },
  'no-full-disk-access': {
    kind: 'verb',
    what: '`apply` sets addresses and removes the bridge without networksetup, the keeper restores them, and `doctor` names the switch',
    tried: 'test/scenarios/keeper-refused.slow.test.ts',
  },
  'no-return': {
    kind: 'verb',
    what: '`reboot` fails and names the Mac; press its power button, then `apply`',
    tried: 'test/scenarios/apply-reboot.slow.test.ts',
  },
  'not-enrolled': {
    kind: 'verb',
    what: '`enroll` with the password of the account, once',
    tried: 'test/cli/enroll-install.slow.test.ts',
  },
  'pd-leak': {
    kind: 'verb',
    what: '`doctor` reports kernel objects without a process; `reboot` of that Mac',
    tried: 'test/cli/doctor-suspects.slow.test.ts',
  },
  'power-cut': {
    kind: 'verb',
    what: 'restore the power; if `autorestart` is off, press the power button; then `apply`',
    tried: 'test/cli/crashes.slow.test.ts',
  },
  'power-wrong': { kind: 'apply', target: 'studio-4' },
  'rdma-disabled': { kind: 'hands', target: 'studio-4' },
  'rdma-hang': {
    kind: 'verb',
    what: '`status` shows that the placement is hung; `restart`, then `reboot`',
    tried: 'test/cli/demo.slow.test.ts',
  },
  'rdma-held': {
    kind: 'verb',
    what: '`doctor` names the process; a person stops it',
    tried: 'test/cli/doctor-suspects.slow.test.ts',
  },
  'rdma-waiting': {
    kind: 'verb',
    what: '`reboot` of that Mac',
    tried: 'test/cli/macos-27.slow.test.ts',
  },
  'remote-login-off': { kind: 'hands', target: 'studio-4' },
  'slow-shutdown': {
    kind: 'verb',
    what: '`reboot` waits until macOS has shut down',
    tried: 'test/scenarios/apply-reboot.slow.test.ts',
  },
  'tcp-load-panic': {
    kind: 'verb',
    what: '`doctor` suspects it after the Mac has panicked; use `transport: rdma`, no hub, or a newer macOS',
    tried: 'test/cli/crashes.slow.test.ts',
  },
  'sudo-denied': { kind: 'person', target: 'studio-4', what: 'allow that user sudo without a password' },
  'verbs-hang': {
    kind: 'verb',
    what: '`doctor` names the process; `reboot` of that Mac',
    tried: 'test/cli/doctor-suspects.slow.test.ts',
  },
  'wired-leak': {
    kind: 'verb',
    what: '`stop` and `restart` report it after a rank was killed, and nothing starts there; `reboot` of that Mac',
    tried: 'test/cli/stop-ladder.slow.test.ts',
  },
  'wrong-host-key': {
    kind: 'person',
    target: 'studio-4',
    what: 'compare the keys on the Mac itself, then `enroll` it again',
  },
  'wrong-mac': { kind: 'person', target: 'studio-4', what: 'correct the address, or the name service' },
};
