import { describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../../../src/sim/faults/faults.ts';
import { verbsDevicesPath } from '../../../../src/sim/model/rdma.ts';
import { rdmaCablesPath } from '../../../../src/sim/render-node.ts';
import { broken, filesOf, simulated } from '../../../rack/rack.ts';

const all = 'en2 en3 en4 en5 en6 en7';
/** A Mac without RDMA offers its neighbors no second service, and the ports of their cables are down. */
const neighbors = ['2', '3', '4'].map((at) => `studio-${at}: ibv_devinfo en3, system_profiler`);

/** For every fault, a target and what it changes: see `changesOf`. */
const changes: Readonly<Record<FaultName, readonly [target: string, ...changed: readonly string[]]>> = {
  'bridge-active': [
    'studio-1',
    `studio-1: ibv_devinfo en3 en4 en5, ifconfig ${all}, netstat, networksetup Bridge, plutil, preferences.plist`,
  ],
  'bridge-rebuilt': [
    'studio-1',
    `studio-1: ibv_devinfo en3 en4 en5, ifconfig ${all}, netstat, networksetup, plutil, preferences.plist`,
  ],
  'build-differs': ['studio-1'],
  'update-fails': ['studio-1'],
  'update-resets': ['studio-1'],
  'update-stuck': ['studio-1'],
  'cable-40g': ['studio-1:2', 'studio-1: system_profiler', 'studio-2: system_profiler'],
  'cable-demoted': ['studio-1:2', 'studio-1: ibv_devinfo en3 en7, ifconfig en3 en7, netstat, networksetup 6'],
  'cable-doubled': [
    'studio-1:2',
    'studio-1: ibv_devinfo en7, ifconfig en7, netstat, networksetup 6, system_profiler',
    'studio-2: ibv_devinfo en7, ifconfig en7, netstat, networksetup 6, system_profiler',
  ],
  'cable-extra': [
    'studio-1',
    'studio-1: ibv_devinfo en7, ifconfig en7, netstat, networksetup 6, system_profiler',
    'studio-2: ibv_devinfo en7, ifconfig en7, netstat, networksetup 6, system_profiler',
  ],
  'cable-foreign': ['studio-1:6', 'studio-1: ibv_devinfo en7, ifconfig en7, netstat, networksetup 6, system_profiler'],
  'cable-missing': [
    'studio-1:2',
    'studio-1: ibv_devinfo en3, ifconfig en3, netstat, system_profiler',
    'studio-2: ibv_devinfo en3, ifconfig en3, netstat, system_profiler',
  ],
  'cable-slow': ['studio-1:2'],
  'cable-swapped': ['studio-1', 'studio-1: system_profiler', 'studio-2: system_profiler', 'studio-3: system_profiler'],
  'clock-skew': ['studio-1', 'studio-1: clock-offset, sysctl'],
  'connection-drop': ['studio-1'],
  crash: ['studio-1'],
  'daemon-conflict': [
    'studio-1',
    'studio-1: ibv_devinfo en3 en4 en5, ifconfig en3 en4 en5, netstat, networksetup 2 3 4, plutil, preferences.plist',
  ],
  'ipv4-off': [
    'studio-1:2',
    'studio-1: ibv_devinfo en3, ifconfig en3, netstat, networksetup 2, plutil, preferences.plist',
  ],
  'dhcp-reset': [
    'studio-1:2',
    'studio-1: ibv_devinfo en3, ifconfig en3, netstat, networksetup 2, plutil, preferences.plist',
  ],
  'disk-full': ['studio-1', 'studio-1: df, room'],
  'falls-back': ['studio-1', 'studio-1: verbs'],
  'filevault-locked': ['studio-1', 'studio-1: fdesetup'],
  'gid-missing': ['studio-1:2', 'studio-1: ibv_devinfo en3, ifconfig en3, netstat'],
  'gid-second': ['studio-1', 'studio-1: ibv_devinfo en3 en4 en5'],
  'hub-between': ['studio-1:2', 'studio-1: system_profiler'],
  'hub-hides-peer': ['studio-1:2', 'studio-1: system_profiler'],
  'internet-sharing': [
    'studio-1:2',
    'studio-1: ibv_devinfo en3, ifconfig en3, ipconfig, netstat, networksetup 2, plutil, preferences.plist',
  ],
  'mac-replaced': [
    'studio-1',
    `studio-1: dscl, ibv_devices, ibv_devinfo ${all}, ifconfig ${all}, ioreg, netstat, networksetup 1 2 3 4 5 6 Bridge, nvram, plutil, pmset, preferences.plist, rdma-counts, rdma-registry, rdma_ctl, sudo, sysctl, system_profiler`,
    ...neighbors,
  ],
  'macos-old': [
    'studio-1',
    `studio-1: ibv_devices, ibv_devinfo ${all}, rdma-counts, rdma-registry, rdma_ctl, sw_vers, sysctl, uname`,
    ...neighbors,
  ],
  'no-full-disk-access': ['studio-1'],
  'no-return': ['studio-1'],
  'power-cut': ['studio-1'],
  'power-wrong': ['studio-1', 'studio-1: pmset'],
  'rdma-waiting': ['studio-1', `studio-1: ibv_devices, ibv_devinfo ${all}, rdma-counts, rdma-registry`, ...neighbors],
  'macos-new': ['studio-1', `studio-1: ibv_devinfo ${all}, softwareupdate, sw_vers, sysctl, uname`],
  'rdma-disabled': [
    'studio-1',
    `studio-1: ibv_devices, ibv_devinfo ${all}, nvram, rdma-counts, rdma-registry, rdma_ctl`,
    ...neighbors,
  ],
  'idle-dead-port': ['studio-1:2'],
  'not-enrolled': ['studio-1', 'studio-1: sudo'],
  'pd-leak': ['studio-1', 'studio-1: rdma-counts, rdma-registry, verbs'],
  'rdma-held': ['studio-1', 'studio-1: processes, rdma-counts, rdma-registry'],
  'verbs-hang': [
    'studio-1',
    `studio-1: ibv_devices, ibv_devinfo ${all}, pgrep, processes, rdma-counts, rdma-registry, verbs-hung`,
  ],
  'rank-killed': ['studio-1'],
  'rank-stopped': ['studio-1'],
  'rdma-hang': ['studio-1'],
  'remote-login-off': ['studio-1', 'studio-1: launchctl'],
  'slow-shutdown': ['studio-1'],
  'sudo-denied': ['studio-1', 'studio-1: sudo'],
  'wired-leak': ['studio-1'],
  'local-network-denied': ['studio-1', 'studio-1: lan-denied'],
  'restart-storm': ['studio-1'],
  'swap-full': ['studio-1', 'studio-1: sysctl'],
  'tcp-load-panic': ['studio-1', 'studio-1: tcp-panics'],
  'wrong-host-key': ['studio-1'],
  'wrong-mac': ['studio-1'],
};

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const healthy = simulated();

/** The name of a changed file, or the tool of an answer with the device or service that the answer is about. */
function subjectOf(path: string): readonly [name: string, about: string] {
  const [, tool, words = ''] = /^\/\.sim\/answers\/([^/]+)\/(.*)$/.exec(path) ?? [];
  const [, device = '', service = ''] = /(?:\b|rdma_)(en\d)|Thunderbolt\+(\w+)/.exec(words) ?? [];
  return [tool ?? path.slice(path.lastIndexOf('/') + 1), device + service];
}

/** Everything that a fault changes on a node. */
function changesOf(fault: FaultName, target: string, node: string): string {
  const before = filesOf(healthy, node);
  const after = filesOf(broken(healthy, { fault, target }), node);
  const about = new Map<string, Set<string>>();
  for (const path of [...before.keys(), ...after.keys()].sort()) {
    // No tool shows these files. Simulated runtimes and the verbs library read from them what cables carry.
    if (path === rdmaCablesPath || path === verbsDevicesPath || before.get(path) === after.get(path)) continue;
    const [name, subject] = subjectOf(path);
    about.set(name, (about.get(name) ?? new Set<string>()).add(subject));
  }
  return [...about]
    .map(([name, all]) => [name, ...[...all].filter(Boolean).sort()].join(' '))
    .sort()
    .join(', ');
}

describe('a fault in the simulated fleet', () => {
  it.each(faultNames.filter((name) => name !== 'wrong-mac'))('changes only its own answers: %s', (fault) => {
    const [target, ...expected] = changes[fault];
    const seen = nodes.map((node) => `${node}: ${changesOf(fault, target, node)}`);
    expect(seen.filter((text) => !text.endsWith(': '))).toEqual(expected);
  });

  it("gives a node all of a different node's answers and leaves the rest unchanged: wrong-mac", () => {
    const fleet = broken(healthy, { fault: 'wrong-mac', target: 'studio-1,studio-3' });
    expect(filesOf(fleet, 'studio-1')).toEqual(filesOf(healthy, 'studio-3'));
    for (const node of ['studio-2', 'studio-3', 'studio-4'])
      expect(filesOf(fleet, node)).toEqual(filesOf(healthy, node));
  });
});
