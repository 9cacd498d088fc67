import { describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../../../src/sim/faults/faults.ts';
import { verbsDevicesPath } from '../../../../src/sim/model/rdma.ts';
import { rdmaCablesPath } from '../../../../src/sim/render-node.ts';
import { broken, filesOf, simulated } from '../../../rack/rack.ts';

const answers = (tool: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `/.sim/answers/${tool}/${name}`);

/** The answers with GIDs and limits of these devices, in every form of the command. */
const verbose = (...devices: readonly string[]): readonly string[] => [
  ...answers('ibv_devinfo', '-v.out'),
  ...devices.flatMap((name) => answers('ibv_devinfo', `-v_-d_rdma_${name}.out`, `-d_rdma_${name}_-v.out`)),
];
/** The answers with state, GIDs and limits of these devices. */
const portStates = (...devices: readonly string[]): readonly string[] => [
  ...verbose(...devices),
  ...answers('ibv_devinfo', 'no-arguments.out'),
  ...devices.flatMap((name) => answers('ibv_devinfo', `-d_rdma_${name}.out`)),
];
const thunderbolt = answers('system_profiler', '-json_SPThunderboltDataType.out', 'SPThunderboltDataType_-json.out');
const interfaces = (...names: readonly string[]): readonly string[] =>
  answers('ifconfig', '-a.out', ...names.map((name) => `${name}.out`));
/** The answers that change with an address: its routes. */
const routes = answers('netstat', '-rn_-f_inet.out');
const gone = (paths: readonly string[]): readonly string[] => paths.map((path) => `- ${path}`);
const allDevices = ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'] as const;
/** The kernel objects of the RDMA driver. */
const kernel = ['/.sim/rdma-counts', '/.sim/rdma-registry'];
/** The changes on a Mac that lists no RDMA device. */
const withoutDevices: readonly string[] = [
  '/usr/bin/ibv_devinfo',
  ...gone([...portStates(...allDevices), ...kernel]),
  '+ /.sim/answers/ibv_devinfo/no-arguments.err',
  '+ /.sim/answers/ibv_devinfo/-v.err',
  ...answers('ibv_devices', 'no-arguments.out'),
];
/** The changes on a neighbor of a Mac without RDMA: no second service, and the port of the cable is down. */
const neighbor = [...thunderbolt, ...portStates('en3')];
const neighbors = { 'studio-2': neighbor, 'studio-3': neighbor, 'studio-4': neighbor };
const versions = answers(
  'sw_vers',
  'no-arguments.out',
  ...['-', '--'].flatMap((dash) => [`${dash}productVersion.out`, `${dash}buildVersion.out`]),
);

const extracted = 'json_-o_-_+Library+Preferences+SystemConfiguration+preferences.plist.out';
/** The network preferences, the simulator's copy, and plutil's answer about bridges. */
const preferences: readonly string[] = [
  '/Library/Preferences/SystemConfiguration/preferences.plist',
  '/.sim/seen/Library/Preferences/SystemConfiguration/preferences.plist',
  ...answers('plutil', `-extract_VirtualNetworkInterfaces.Bridge_${extracted}`),
];

/** The answers of plutil about services, in both forms. */
const servicesKey = ['json', 'xml1'].flatMap((form) =>
  answers('plutil', `-extract_NetworkServices_${extracted.replace('json', form)}`),
);

/** The changes of a service that was reset to DHCP. */
const reset: readonly string[] = [
  ...preferences.slice(0, 2),
  ...servicesKey,
  ...answers('networksetup', '-getinfo_Thunderbolt+2.out'),
];

/** The changes of a new cable in the last receptacle. */
const linkUp: readonly string[] = [
  ...thunderbolt,
  ...interfaces('en7'),
  ...routes,
  ...answers('networksetup', '-getinfo_Thunderbolt+6.out'),
];
const joined = Object.fromEntries(['studio-1', 'studio-2'].map((node) => [node, [...linkUp, ...portStates('en7')]]));

/** Every fault with a target and all files that it changes, by node; `-` marks removed files, `+` new ones. */
const changes: Readonly<Record<FaultName, readonly [target: string, Readonly<Record<string, readonly string[]>>]>> = {
  'bridge-active': [
    'studio-1',
    {
      'studio-1': [
        ...verbose('en3', 'en4', 'en5'),
        ...interfaces(...allDevices),
        ...routes,
        ...answers('ifconfig', '-l.out'),
        '/sbin/ifconfig',
        '+ /.sim/answers/ifconfig/bridge0.out',
        ...answers(
          'networksetup',
          '-listallhardwareports.out',
          '-listallnetworkservices.out',
          '-listnetworkserviceorder.out',
        ),
        '/usr/sbin/networksetup',
        '+ /.sim/answers/networksetup/-getinfo_Thunderbolt+Bridge.out',
        '+ /.sim/answers/networksetup/-getnetworkserviceenabled_Thunderbolt+Bridge.out',
        ...preferences,
        ...servicesKey,
      ],
    },
  ],
  'bridge-rebuilt': [
    'studio-1',
    {
      'studio-1': [
        ...verbose('en3', 'en4', 'en5'),
        ...interfaces(...allDevices),
        ...routes,
        ...answers('ifconfig', '-l.out'),
        '/sbin/ifconfig',
        '+ /.sim/answers/ifconfig/bridge0.out',
        ...answers('networksetup', '-listallhardwareports.out'),
        ...preferences,
      ],
    },
  ],
  'cable-40g': ['studio-1:2', { 'studio-1': thunderbolt, 'studio-2': thunderbolt }],
  'cable-doubled': ['studio-1:2', joined],
  'cable-extra': ['studio-1', joined],
  'cable-foreign': ['studio-1:6', { 'studio-1': [...linkUp, ...verbose('en7')] }],
  'cable-missing': [
    'studio-1:2',
    {
      'studio-1': [...thunderbolt, ...portStates('en3'), ...interfaces('en3'), ...routes],
      'studio-2': [...thunderbolt, ...portStates('en3'), ...interfaces('en3'), ...routes],
    },
  ],
  'cable-slow': ['studio-1:2', {}],
  'cable-swapped': ['studio-1', { 'studio-1': thunderbolt, 'studio-2': thunderbolt, 'studio-3': thunderbolt }],
  'clock-skew': ['studio-1', { 'studio-1': ['/.sim/clock-offset', '/usr/sbin/sysctl'] }],
  'connection-drop': ['studio-1', {}],
  crash: ['studio-1', {}],
  'daemon-conflict': [
    'studio-1',
    {
      'studio-1': [
        ...reset.filter((path) => !path.includes('getinfo')),
        ...answers('networksetup', ...[2, 3, 4].map((number) => `-getinfo_Thunderbolt+${number}.out`)),
        ...verbose('en3', 'en4', 'en5'),
        ...interfaces('en3', 'en4', 'en5'),
        ...routes,
      ],
    },
  ],
  'ipv4-off': ['studio-1:2', { 'studio-1': [...reset, ...verbose('en3'), ...interfaces('en3'), ...routes] }],
  'dhcp-reset': ['studio-1:2', { 'studio-1': [...reset, ...verbose('en3'), ...interfaces('en3'), ...routes] }],
  'disk-full': ['studio-1', { 'studio-1': ['+ /.sim/room', ...answers('df', '-k_+System+Volumes+Data.out')] }],
  'filevault-locked': [
    'studio-1',
    { 'studio-1': ['/usr/bin/fdesetup', ...answers('fdesetup', 'status.out', 'isactive.out')] },
  ],
  'gid-missing': ['studio-1:2', { 'studio-1': [...verbose('en3'), ...interfaces('en3'), ...routes] }],
  'hub-between': ['studio-1:2', { 'studio-1': thunderbolt }],
  'hub-hides-peer': ['studio-1:2', { 'studio-1': thunderbolt }],
  'internet-sharing': [
    'studio-1:2',
    {
      'studio-1': [
        ...reset,
        ...verbose('en3'),
        ...interfaces('en3'),
        ...routes,
        '+ /.sim/answers/ipconfig/getpacket_en3.out',
        '/usr/sbin/ipconfig',
      ],
    },
  ],
  'mac-replaced': [
    'studio-1',
    {
      'studio-1': [
        '/.sim/sudo',
        '/usr/sbin/sysctl',
        ...thunderbolt,
        ...withoutDevices,
        ...interfaces(...allDevices),
        ...routes,
        ...answers('ifconfig', '-l.out'),
        '/sbin/ifconfig',
        '+ /.sim/answers/ifconfig/bridge0.out',
        ...answers('system_profiler', '-json_SPHardwareDataType.out', 'SPHardwareDataType_-json.out'),
        ...answers('ioreg', '-rd1_-c_IOPlatformExpertDevice.out'),
        ...answers(
          'networksetup',
          '-listallhardwareports.out',
          '-listallnetworkservices.out',
          '-listnetworkserviceorder.out',
        ),
        '/usr/sbin/networksetup',
        '+ /.sim/answers/networksetup/-getinfo_Thunderbolt+Bridge.out',
        '+ /.sim/answers/networksetup/-getnetworkserviceenabled_Thunderbolt+Bridge.out',
        ...gone(
          allDevices.flatMap((_, index) =>
            answers(
              'networksetup',
              `-getinfo_Thunderbolt+${index + 1}.out`,
              `-getnetworkserviceenabled_Thunderbolt+${index + 1}.out`,
            ),
          ),
        ),
        ...preferences,
        ...servicesKey,
        '/usr/bin/plutil',
        ...answers('pmset', '-g.out', '-g_custom.out'),
        ...answers('rdma_ctl', 'status.out'),
        '/usr/sbin/nvram',
        '+ /.sim/answers/nvram/rdma-enable.err',
        '- /.sim/answers/nvram/rdma-enable.out',
      ],
      ...neighbors,
    },
  ],
  'macos-old': [
    'studio-1',
    {
      'studio-1': [
        ...gone(['/usr/bin/ibv_devices', '/usr/bin/ibv_devinfo', '/usr/bin/rdma_ctl']),
        ...gone(answers('ibv_devices', 'no-arguments.out', 'usage.err')),
        ...gone([...portStates(...allDevices), ...answers('ibv_devinfo', 'usage.err')]),
        ...gone([...answers('rdma_ctl', 'status.out', 'enable.err', 'disable.err', 'usage.err'), ...kernel]),
        ...versions,
        ...answers('uname', '-a.out', '-r.out', '-v.out'),
        '/usr/sbin/sysctl',
      ],
      ...neighbors,
    },
  ],
  'no-full-disk-access': ['studio-1', {}],
  'no-return': ['studio-1', {}],
  'power-cut': ['studio-1', {}],
  'power-wrong': ['studio-1', { 'studio-1': answers('pmset', '-g.out', '-g_custom.out') }],
  'rdma-waiting': [
    'studio-1',
    {
      'studio-1': [...withoutDevices],
      ...neighbors,
    },
  ],
  'macos-new': [
    'studio-1',
    {
      'studio-1': [
        ...versions,
        ...answers('uname', '-a.out', '-r.out', '-v.out'),
        '/usr/sbin/sysctl',
        // macOS has no newer version to offer.
        '/usr/sbin/softwareupdate',
        ...answers('softwareupdate', '--list_--no-scan.out'),
        '+ /.sim/answers/softwareupdate/--list_--no-scan.err',
        // Newer versions report fewer queue pairs.
        ...verbose(...allDevices),
      ],
    },
  ],
  'rdma-disabled': [
    'studio-1',
    {
      'studio-1': [
        ...withoutDevices,
        '/usr/sbin/nvram',
        ...gone(answers('nvram', 'rdma-enable.out')),
        '+ /.sim/answers/nvram/rdma-enable.err',
        ...answers('rdma_ctl', 'status.out'),
      ],
      ...neighbors,
    },
  ],
  'idle-dead-port': ['studio-1:2', {}],
  'not-enrolled': ['studio-1', { 'studio-1': ['/.sim/sudo'] }],
  'pd-leak': ['studio-1', { 'studio-1': ['+ /.sim/verbs', ...kernel] }],
  'rdma-held': ['studio-1', { 'studio-1': ['+ /.sim/processes', ...kernel] }],
  'verbs-hang': [
    'studio-1',
    {
      'studio-1': [
        ...['/usr/bin/ibv_devices', '/usr/bin/ibv_devinfo', '/usr/bin/pgrep', ...kernel],
        ...['+ /.sim/answers/pgrep/+ibv_.out', '+ /.sim/processes', '+ /.sim/verbs-hung'],
        ...gone([...portStates(...allDevices), ...answers('ibv_devices', 'no-arguments.out')]),
      ],
    },
  ],
  'rdma-hang': ['studio-1', {}],
  'remote-login-off': [
    'studio-1',
    { 'studio-1': ['- /.sim/answers/launchctl/print_system+com.openssh.sshd.out', '/bin/launchctl'] },
  ],
  'slow-shutdown': ['studio-1', {}],
  'sudo-denied': ['studio-1', { 'studio-1': ['/.sim/sudo'] }],
  'wired-leak': ['studio-1', {}],
  'tcp-load-panic': ['studio-1', { 'studio-1': ['+ /.sim/tcp-panics'] }],
  'wrong-host-key': ['studio-1', {}],
  'wrong-mac': ['studio-1', {}],
};

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const healthy = simulated();

function changedFiles(fault: FaultName, target: string, node: string): readonly string[] {
  const before = filesOf(healthy, node);
  const after = filesOf(broken(healthy, { fault, target }), node);
  return (
    [...new Set([...before.keys(), ...after.keys()])]
      // No tool shows these files. Simulated runtimes and the verbs library read from them what cables carry.
      .filter((path) => path !== rdmaCablesPath && path !== verbsDevicesPath && before.get(path) !== after.get(path))
      .map((path) => (after.has(path) ? (before.has(path) ? path : `+ ${path}`) : `- ${path}`))
      .sort()
  );
}

describe('a fault in the simulated fleet', () => {
  it.each(faultNames.filter((name) => name !== 'wrong-mac'))('changes only its own answers: %s', (fault) => {
    const [target, byNode] = changes[fault];
    const expected = Object.fromEntries(nodes.map((node) => [node, [...(byNode[node] ?? [])].sort()]));
    expect(Object.fromEntries(nodes.map((node) => [node, changedFiles(fault, target, node)]))).toEqual(expected);
  });

  it("gives a node all of a different node's answers and leaves the rest unchanged: wrong-mac", () => {
    const fleet = broken(healthy, { fault: 'wrong-mac', target: 'studio-1,studio-3' });
    expect(filesOf(fleet, 'studio-1')).toEqual(filesOf(healthy, 'studio-3'));
    for (const node of ['studio-2', 'studio-3', 'studio-4'])
      expect(filesOf(fleet, node)).toEqual(filesOf(healthy, node));
  });
});
