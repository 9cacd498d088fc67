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

const apply = (target = 'studio-4'): Cure => ({ kind: 'apply', target });
const hands = (target = 'studio-4'): Cure => ({ kind: 'hands', target });
const person = (what: string): Cure => ({ kind: 'person', target: 'studio-4', what });
const verb = (what: string, tried: string): Cure => ({ kind: 'verb', what, tried });

/** One row per fault, for the pair studio-1:4 <-> studio-4:2 of the tests that converge. */
export const faultCures: Readonly<Record<FaultName, Cure>> = {
  'bridge-active': apply(),
  'bridge-rebuilt': apply(),
  'build-differs': verb(
    '`upgrade macos` stops after that unit and names the expected build; install it on the Mac, and type it again',
    'test/cli/upgrade-drivers.slow.test.ts',
  ),
  'update-fails': verb('`upgrade macos` stops after that unit; type it again', 'test/cli/upgrade-macos.slow.test.ts'),
  'update-resets': verb(
    '`upgrade macos` puts the settings right and lists RDMA for a person; type it again',
    'test/cli/upgrade-macos.slow.test.ts',
  ),
  'update-stuck': verb(
    '`upgrade macos` follows the installation for three hours; nothing else restarts the Mac or starts there; restart it by hand, and type it again',
    'test/cli/upgrade-macos.slow.test.ts',
  ),
  'cable-40g': hands('studio-1:4'),
  'cable-demoted': hands('studio-1:4'),
  'cable-doubled': hands('studio-1:4'),
  'cable-extra': hands('studio-1:5,studio-4:6'),
  'cable-foreign': hands('studio-1:5'),
  'cable-missing': hands('studio-1:4'),
  'cable-slow': verb('measure the cable with the native probe, and replace it', 'test/contract/verbs-behaviours.ts'),
  'cable-swapped': hands('studio-4:2,studio-4:3'),
  'clock-skew': person('set the clock of that Mac'),
  'connection-drop': person('repair the connection to that Mac; the other Macs converge'),
  crash: verb('`status` shows what stopped with it; `apply` starts it again', 'test/cli/crashes.slow.test.ts'),
  'daemon-conflict': apply(),
  'dhcp-reset': apply('studio-4:2'),
  'disk-full': person('free some space; a copy that did not fit continues where it stopped'),
  'falls-back': verb(
    '`status` and `doctor` show that the ranks use TCP, although the file says RDMA; `reboot` of that Mac',
    'test/cli/falls-back.slow.test.ts',
  ),
  'filevault-locked': verb(
    '`unlock` with the password of its account, or a person at its keyboard; `apply` does the rest',
    'test/cli/unlock.slow.test.ts',
  ),
  'gid-missing': apply('studio-1:4'),
  'gid-second': verb(
    '`plan` refuses a start of mlx or exo over that cable; use `transport: tcp` or llama.cpp, because nothing is known that moves a GID',
    'test/scenarios/exo-mesh.slow.test.ts',
  ),
  'hub-between': hands('studio-1:4'),
  'hub-hides-peer': hands('studio-1:4'),
  'idle-dead-port': verb(
    '`doctor` suspects it after a failed start or token; `reboot` of both Macs',
    'test/cli/doctor-suspects.slow.test.ts',
  ),
  'internet-sharing': apply('studio-4:2'),
  'ipv4-off': apply('studio-4:2'),
  'mac-replaced': verb('`replace`, then `apply`', 'test/cli/replace.slow.test.ts'),
  'macos-new': person('install the same macOS on the other Macs'),
  'macos-old': person('update macOS, or accept that version in the file'),
  'no-full-disk-access': verb(
    '`apply` sets addresses and removes the bridge without networksetup, the keeper restores them, and `doctor` names the switch',
    'test/scenarios/keeper-refused.slow.test.ts',
  ),
  'no-return': verb(
    '`reboot` fails and names the Mac; press its power button, then `apply`',
    'test/scenarios/apply-reboot.slow.test.ts',
  ),
  'not-enrolled': verb('`enroll` with the password of the account, once', 'test/cli/enroll-install.slow.test.ts'),
  'pd-leak': verb(
    '`doctor` reports kernel objects without a process; `reboot` of that Mac',
    'test/cli/doctor-suspects.slow.test.ts',
  ),
  'power-cut': verb(
    'restore the power; if `autorestart` is off, press the power button; then `apply`',
    'test/cli/crashes.slow.test.ts',
  ),
  'power-wrong': apply(),
  'rdma-disabled': hands(),
  'rdma-hang': verb(
    '`status` shows that the placement is hung; `restart`, then `reboot`',
    'test/cli/blind-follower.slow.test.ts',
  ),
  'rdma-held': verb('`doctor` names the process; a person stops it', 'test/cli/doctor-suspects.slow.test.ts'),
  'rank-killed': verb('`status` names the rank; `restart`', 'test/cli/blind-follower.slow.test.ts'),
  'rank-stopped': verb(
    '`doctor` and `status` name the suspended rank; `restart`',
    'test/cli/suspended-rank.slow.test.ts',
  ),
  'rdma-waiting': verb('`reboot` of that Mac', 'test/cli/macos-27.slow.test.ts'),
  'remote-login-off': hands(),
  'slow-shutdown': verb('`reboot` waits until macOS has shut down', 'test/scenarios/apply-reboot.slow.test.ts'),
  'local-network-denied': verb(
    '`doctor` suspects it after a failed start, and names the switch in System Settings on that Mac; then `restart`',
    'test/cli/local-network.slow.test.ts',
  ),
  'restart-storm': verb(
    '`apply` fails, and `doctor` reports the memory that stayed wired; nothing starts there again; `reboot` of that Mac',
    'test/cli/start-gates.slow.test.ts',
  ),
  'swap-full': verb(
    '`plan` refuses every start on that Mac; `reboot` of that Mac',
    'test/cli/start-gates.slow.test.ts',
  ),
  'tcp-load-panic': verb(
    '`doctor` suspects it after the Mac has panicked; use `transport: rdma`, no hub, or a newer macOS',
    'test/cli/crashes.slow.test.ts',
  ),
  'sudo-denied': person('allow that user sudo without a password'),
  'verbs-hang': verb('`doctor` names the process; `reboot` of that Mac', 'test/cli/doctor-suspects.slow.test.ts'),
  'wired-leak': verb(
    '`stop` and `restart` report it after a rank was killed, and nothing starts there; `reboot` of that Mac',
    'test/cli/stop-ladder.slow.test.ts',
  ),
  'wrong-host-key': person('compare the keys on the Mac itself, then `enroll` it again'),
  'wrong-mac': person('correct the address, or the name service'),
};
