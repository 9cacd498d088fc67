import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { tools } from '../../../../src/sim/tools/registry.ts';
import { broken, filesOf, simulated } from '../../../rack/rack.ts';
import { captured, layout } from '../captures.ts';
import { type NodeRoot, nodeRoot } from '../node-root.ts';

const healthy = simulated();
const preferences = '$R/Library/Preferences/SystemConfiguration/preferences.plist';
const roots: NodeRoot[] = [];
const kept = (root: NodeRoot): NodeRoot => {
  roots.push(root);
  return root;
};
const bash = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path));
const shells: readonly (readonly [string, readonly string[]])[] = [
  ["this computer's sh", []],
  ...(bash === undefined ? [] : [['bash --posix', [bash, '--posix']] as const]),
];

afterAll(() => {
  for (const { remove } of roots) remove();
});

describe.each(shells)('a simulated tool under %s', (_, shell) => {
  const root = kept(nodeRoot(healthy, 'studio-1', shell));

  it('prints exactly the stored answer for a command line', () => {
    const stored = filesOf(healthy, 'studio-1').get('/.sim/answers/networksetup/-getinfo_Thunderbolt+2.out');
    expect(root.run('/usr/sbin/networksetup', '-getinfo', 'Thunderbolt 2')).toEqual({
      status: 0,
      stdout: stored,
      stderr: '',
    });
    expect(root.unknown()).toEqual([]);
  });

  it('accepts a path below its own root', () => {
    const args = ['-extract', 'VirtualNetworkInterfaces.Bridge', 'json', '-o', '-'];
    expect(root.run('/usr/bin/plutil', ...args, preferences)).toEqual({ status: 0, stdout: '{}\n', stderr: '' });
    expect(root.run('/bin/df', '-k', '$R/System/Volumes/Data').stdout).toMatch(
      /^Filesystem .*\n.* \/System\/Volumes\/Data\n$/,
    );
  });

  it('fails like the real tool', () => {
    expect(root.run('/usr/bin/rdma_ctl', 'enable')).toEqual({
      status: 77,
      stdout: '',
      stderr: captured('rdma_ctl-enable.outside-recovery.stderr.txt'),
    });
    expect(root.run('/usr/bin/fdesetup', 'isactive')).toEqual({ status: 1, stdout: 'false\n', stderr: '' });
    expect(root.run('/usr/sbin/scutil', '--get', 'HostName')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'HostName: not set\n',
    });
  });

  it('names a missing object in its error', () => {
    const { stderr } = root.run('/bin/launchctl', 'print', 'system/dev.meshwright.keeper');
    expect(stderr.replace('dev.meshwright.keeper', 'com.openssh.sshd')).toBe(
      captured('launchctl-print.sshd.off.stderr.txt'),
    );
    expect(root.run('/bin/launchctl', 'print', 'system/x').status).toBe(113);
    expect(root.run('/sbin/ifconfig', 'bridge0')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'ifconfig: interface bridge0 does not exist\n',
    });
    expect(root.run('/usr/sbin/networksetup', '-getinfo', 'Café %s')).toEqual({
      status: 4,
      stdout: 'Café %s is not a recognized network service.\n** Error: The parameters were not valid.\n',
      stderr: '',
    });
    expect(root.run('/usr/bin/ibv_devinfo', '-d', 'rdma_en9', '-v').status).toBe(255);
    expect(root.run('/usr/bin/ibv_devinfo', '-v', '-d', 'rdma_en9').stderr).toBe("IB device 'rdma_en9' wasn't found\n");
    expect(root.unknown()).toEqual([]);
  });

  it('answers known names like sysctl and reports unknown ones on stderr', () => {
    expect(root.run('/usr/sbin/sysctl', '-n', 'hw.model', 'hw.memsize').stdout).toBe('Mac15,14\n549755813888\n');
    expect(root.run('/usr/sbin/sysctl', 'hw.nothing', 'hw.model')).toEqual({
      status: 1,
      stdout: 'hw.model: Mac15,14\n',
      stderr: "sysctl: unknown oid 'hw.nothing'\n",
    });
    expect(root.unknown()).toEqual(['/usr/sbin/sysctl 1:hw.nothing']);
  });

  it('prints names and values with the same lines as the captures', () => {
    const masked = (text: string): string =>
      layout(text).replaceAll(/\d+|[A-Z][a-z]{2} [A-Z][a-z]{2} +(?=<n>|\d)/g, '<n>');
    expect(masked(root.run('/usr/sbin/sysctl', 'kern.boottime', 'kern.bootsessionuuid').stdout)).toBe(
      masked(captured('sysctl-boot.2026-09-26.txt')),
    );
    const names = ['hw.memsize', 'hw.pagesize', 'iogpu.wired_limit_mb', 'machdep.cpu.brand_string'];
    expect(root.run('/usr/sbin/sysctl', ...names).stdout).toBe(
      captured('sysctl-memory.m3ultra-512.txt').replace('limit_mb: 0', 'limit_mb: 491520'),
    );
  });
});

describe('a command line missing from the table', () => {
  const root = kept(nodeRoot(healthy, 'studio-1'));

  it("prints the tool's usage on stderr and is recorded in one line", () => {
    const lines: readonly (readonly string[])[] = [
      ['/usr/bin/sw_vers', '-nonsense'],
      ['/usr/bin/sw_vers', '-productVersion', ''],
      ['/usr/sbin/networksetup', '-getinfo'],
      ['/bin/launchctl', 'print', 'system/a b'],
      ['/sbin/ifconfig', '-a', 'inet'],
      ['/usr/bin/pmset', '-g\n/usr/bin/forged 0:'],
      ['/usr/sbin/sysctl', '-a'],
      ['/usr/bin/plutil', '-extract', 'VirtualNetworkInterfaces.Bridge', 'json', '-o', '-', '/Library/elsewhere'],
    ];
    for (const [tool = '', ...args] of lines) {
      const { status, stdout, stderr } = root.run(tool, ...args);
      expect([stdout, status === 0, stderr === '']).toEqual(['', false, false]);
    }
    expect(root.unknown()).toEqual([
      '/usr/bin/sw_vers 1:-nonsense',
      '/usr/bin/sw_vers 2:-productVersion ',
      '/usr/sbin/networksetup 1:-getinfo',
      '/bin/launchctl 2:print system/a b',
      '/sbin/ifconfig 2:-a inet',
      '/usr/bin/pmset 1:(arguments with a line break)',
      '/usr/sbin/sysctl 1:-a',
      '/usr/bin/plutil 6:-extract VirtualNetworkInterfaces.Bridge json -o - /Library/elsewhere',
    ]);
  });

  it('is not mistaken for the same words in different arguments', () => {
    expect(root.run('/usr/bin/sw_vers', '').status).toBe(1);
    expect(root.run('/usr/sbin/system_profiler', 'SPHardwareDataType -json').status).toBe(1);
    expect(root.run('/usr/bin/pmset', '*').status).toBe(1);
  });
});

describe('an RDMA tool', () => {
  it('is the only kind of tool missing before macOS 26.2', () => {
    const root = kept(nodeRoot(broken(healthy, { fault: 'macos-old', target: 'studio-1' }), 'studio-1'));
    const missing = tools.filter(({ path }) => !existsSync(root.path + path)).map(({ path }) => path);
    expect(missing).toEqual(['/usr/bin/ibv_devices', '/usr/bin/ibv_devinfo', '/usr/bin/rdma_ctl']);
  });
});

describe('a simulated Mac with RDMA disabled', () => {
  it('is reported as such by every RDMA tool', () => {
    const root = kept(nodeRoot(broken(healthy, { fault: 'rdma-disabled', target: 'studio-1' }), 'studio-1'));
    expect(root.run('/usr/bin/rdma_ctl', 'status')).toEqual({ status: 0, stdout: 'disabled\n', stderr: '' });
    expect(root.run('/usr/bin/ibv_devices').stdout.split('\n')).toHaveLength(3);
    expect(root.run('/usr/bin/ibv_devinfo', '-v')).toEqual({
      status: 255,
      stdout: '',
      stderr: 'No IB devices found\n',
    });
  });
});
