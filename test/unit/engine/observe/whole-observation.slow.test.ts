import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allProbes, type EveryFact, factNames, parseFacts } from '../../../../src/engine/observe/facts.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { tool } from '../../../../src/node/paths/node-paths.ts';
import { makeNodeRoot, type NodeRoot, removedAfter, startScript } from '../scripts/node-root.ts';
import { type Shell, scriptShells } from '../scripts/shells.ts';
import { outputIn } from './fact-cases.ts';

const boundary = 'fedcba9876543210fedcba9876543210';
/** The ids of identity/macbook-air-m2 as ioreg prints them. */
const platformText = `+-o Mac  <class IOPlatformExpertDevice, id 0x100000225, registered>
    {
      "IOPlatformUUID" = "12345678-1234-1234-1234-1234567890AB"
      "IOPlatformSerialNumber" = "1234567890"
    }
`;
const published = (title: string): string => {
  // In the output of meshwright's scripts, the tool's output follows the bar.
  const [, setting] = /^(names|firewall)\//.exec(title) ?? [];
  if (setting !== undefined) return [...outputIn(title).matchAll(/^\|(.*\n)/gm)].map(([, line]) => line).join('');
  if (title.endsWith(' registry')) return platformText;
  if (title.startsWith('spotlight/')) return outputIn(title).replace(/^end\n/m, '');
  if (title.startsWith('dhcp-leases/')) return outputIn(title).replace(/^en7 exit 0\nend\n/m, '');
  if (title === 'sysctl of two Macs') return `${outputIn('hardware/m3ultra-512')}${outputIn('swap/under-load')}`;
  if (title.startsWith('rdma-objects/')) return outputIn(title).replace(/^end\n/m, '');
  if (title.startsWith('rdma-holders/')) return outputIn(title).replace(/^.*\nioreg\n([\s\S]*)end\n$/, '$1');
  const [, registry, part] = /^(receptacle-places.*) (nodes|paths)$/.exec(title) ?? [];
  if (registry === undefined) return outputIn(title);
  const text = outputIn(registry).replace(/^end\n/m, '');
  const paths = text.indexOf('+-o Root');
  return part === 'nodes' ? text.slice(0, paths) : text.slice(paths);
};

/** The published output of each tool, by arguments; for a script, only its node lines or paths. */
const outputs: readonly (readonly [string, string, string])[] = [
  ['usr/bin/sw_vers', '', 'macos-version/macos-27'],
  ['usr/sbin/sysctl', '*', 'sysctl of two Macs'],
  ['usr/sbin/system_profiler', 'SPHardwareDataType -json', 'identity/macbook-air-m2'],
  ['usr/sbin/system_profiler', 'SPThunderboltDataType -json', 'thunderbolt/m3ultra-pair-a'],
  ['usr/sbin/ioreg', '-rd1 -c IOPlatformExpertDevice', 'identity/macbook-air-m2 registry'],
  ['usr/sbin/ioreg', '-x -r -d1 -k port-location', 'receptacle-places/m3-ultra nodes'],
  ['usr/sbin/ioreg', '-x -r -d1 -t -l -c AppleThunderboltIPPort', 'receptacle-places/m3-ultra paths'],
  ['usr/sbin/networksetup', '-listallhardwareports', 'hardware-ports/m3ultra-no-bridge'],
  ['usr/sbin/networksetup', '-listnetworkserviceorder', 'network-services/m3ultra-no-bridge'],
  ['sbin/ifconfig', '-a', 'interfaces/m3ultra-en7-own-address'],
  [
    'usr/bin/plutil',
    '-extract VirtualNetworkInterfaces.Bridge json -o - *',
    'bridge-preferences/macbook-bridge-present',
  ],
  ['usr/bin/plutil', '-extract NetworkServices xml1 -o - *', 'service-addresses/fixed-and-dhcp'],
  ['usr/bin/plutil', '-extract System json -o - *', 'names/renamed'],
  ['usr/libexec/ApplicationFirewall/socketfilterfw', '*', 'firewall/off'],
  ['usr/bin/mdutil', '-a -s', 'spotlight/on'],
  ['usr/sbin/ipconfig', 'getpacket en7', 'dhcp-leases/internet-sharing-over-a-cable'],
  ['usr/sbin/netstat', '-rn -f inet', 'routes/m3ultra-default-via-peer'],
  ['usr/bin/rdma_ctl', 'status', 'rdma-state/m3ultra-enabled'],
  ['usr/sbin/nvram', 'rdma-enable', 'rdma-switch/m3ultra-on'],
  [
    'usr/sbin/ioclasscount',
    'AppleThunderboltRDMAProtectionDomain AppleThunderboltRDMAQueuePair',
    'rdma-objects/three-domains',
  ],
  ['usr/sbin/ioreg', '-r -c AppleThunderboltRDMAInterface -l', 'rdma-holders/one-wedged-one-ready'],
  ['usr/bin/ibv_devices', '', 'rdma-devices/m3ultra-six-ports'],
  ['usr/bin/ibv_devinfo', '-v', 'rdma-ports/m3ultra-en7-active'],
  ['usr/sbin/softwareupdate', '--list --no-scan', 'software-updates/safari-tahoe-and-27'],
  ['usr/bin/fdesetup', 'status', 'filevault/macbook-on'],
  ['usr/bin/pmset', '-g custom', 'power/studio'],
  ['bin/df', '-k *', 'disk-space/m3ultra-8tb'],
];

const newRoot = removedAfter(makeNodeRoot);

function macRoot(shell: Shell): NodeRoot {
  const root = newRoot(shell);
  for (const name of new Set(outputs.map(([path]) => path))) {
    const rows = outputs.filter(([path]) => path === name);
    const cases = rows.map(([, argv, title], at) => {
      root.file(`outputs/${name}.${at}`, published(title));
      const pattern = argv.replaceAll(' ', '\\ ');
      return `(${pattern === '' ? "''" : pattern}) exec /bin/cat "$R/outputs/${name}.${at}" ;;`;
    });
    root.tool(name, `case "$*" in ${cases.join('\n')} esac\nexit 64`);
  }
  root.tool('usr/bin/pgrep', 'exit 1');
  root.tool('usr/bin/sudo', 'printf "sudo: a password is required\\n" >&2; exit 1');
  root.tool('usr/bin/awk', 'exec /usr/bin/awk "$@"');
  root.tool(
    'usr/bin/id',
    'case "$*" in (-un) printf "ana\\n" ;; (-u) printf "501\\n" ;; ("-Gn ana") printf "staff admin\\n" ;; (*) exit 1 ;; esac',
  );
  root.tool(
    'usr/bin/dscl',
    'case $2 in (-list) printf "_www 70\\nana 501\\n" ;; (-read) printf "PrimaryGroupID: 20\\nUniqueID: 501\\n" ;; (*) exit 64 ;; esac',
  );
  root.tool(
    'usr/bin/defaults',
    'printf "now defaults[7:8] \\nThe domain/default pair of (%s, %s) does not exist\\n" "$2" "$3" >&2; exit 1',
  );
  root.file('Library/Preferences/com.apple.loginwindow.plist', '');
  root.tool(
    'bin/launchctl',
    'case $2 in (system/dev.meshwright.keeper) printf "%s = {\\n\\tstate = running\\n\\tpid = 7\\n}\\n" "$2" ;;\n' +
      '(system | user/501) printf "disabled services = {\\n}\\n" ;;\n' +
      '(*) printf "Bad request.\\nCould not find service \\"%s\\" in domain for system\\n" "$2" >&2; exit 113 ;; esac',
  );
  root.file('Library/LaunchDaemons/com.example.other.plist', '');
  return root;
}

async function observe(
  shell: Shell,
  root: NodeRoot,
  probes = allProbes(),
  env?: NodeJS.ProcessEnv,
): Promise<EveryFact> {
  const request = { probes, boundary, rootPrefix: root.folder };
  const { end } = startScript(shell, observeScript(request), env);
  const now = Date.now();
  return parseFacts(parseFrames((await end).stdout, request), {
    sentAtEpochMs: now - 5_000,
    receivedAtEpochMs: now + 60_000,
  });
}

const keep = 'Library/Application Support/meshwright';

describe.each(scriptShells)('a whole observation under $name', (shell) => {
  it('reads every fact from published outputs without changing the node', async () => {
    const root = macRoot(shell);
    root.file('Library/LaunchDaemons/dev.meshwright.keeper.plist', '');
    root.file('Library/LaunchDaemons/dev.meshwright.rank.0.plist', '');
    root.file(`${keep}/ops/9f2a/job`, 'name=blob\npath=/opt/a=b $(id) \\n\nlast=no line end');
    root.file(`${keep}/ops/empty/job`, '');
    root.file(`${keep}/ops/stray`, 'no folder');
    root.file(`${keep}/lease/owner`, 'owner=ana\n');
    const before = root.tree();
    const facts = await observe(shell, root);
    expect(factNames.filter((name) => facts[name].kind === 'unknown').map((name) => [name, facts[name]])).toEqual([]);
    expect(facts.services).toMatchObject({
      value: [
        { label: 'dev.meshwright.keeper', state: 'running', pid: 7 },
        { label: 'dev.meshwright.rank.0', state: 'not-loaded' },
      ],
    });
    expect(facts.jobs).toMatchObject({
      value: [
        { key: '9f2a', fields: { name: 'blob', path: '/opt/a=b $(id) \\n', last: 'no line end', state: 'gone' } },
        { key: 'empty', fields: { state: 'gone' } },
      ],
    });
    expect(facts.leases).toMatchObject({ value: [{ fields: { owner: 'ana' } }] });
    expect(facts.login).toMatchObject({ value: 'ana' });
    expect(facts.sudo).toMatchObject({ value: 'needs-password' });
    expect(facts.clock).toMatchObject({ value: { uncertaintyMs: 33_000 } });
    expect(root.tree()).toEqual(before);
  });

  it('runs no programs from a folder at the front of PATH', async () => {
    const root = macRoot(shell);
    const mark = join(root.folder, 'hostile/ran');
    for (const { path } of Object.values(tool)) root.tool(`hostile/${basename(path)}`, `true >'${mark}'\nexit 1`);
    const env = { ...process.env, PATH: `${join(root.folder, 'hostile')}:${process.env['PATH']}` };
    await startScript(shell, 'sw_vers', env).end;
    expect(existsSync(mark)).toBe(true);
    rmSync(mark);
    const { identity, 'macos-version': version } = await observe(shell, root, allProbes(), env);
    expect([identity.kind, version.kind, existsSync(mark)]).toEqual(['known', 'known', false]);
  });

  it('reports no jobs, leases or services on a Mac without any', async () => {
    const root = macRoot(shell);
    root.file('Library/Application Support/other/file', '');
    const facts = await observe(shell, root);
    expect([facts.services, facts.jobs, facts.leases]).toMatchObject([{ value: [] }, { value: [] }, { value: [] }]);
  });

  it('does not mistake a file for an empty folder', async () => {
    const root = macRoot(shell);
    root.file(`${keep}/ops`, 'a file');
    const facts = await observe(shell, root);
    expect([facts.jobs, facts.leases]).toMatchObject([{ reason: 'no-privilege' }, { reason: 'no-privilege' }]);
  });

  it('never runs file names on the node as code', async () => {
    const root = macRoot(shell);
    root.file('Library/LaunchDaemons/dev.meshwright.$(touch owned).plist', '');
    root.file(`${keep}/ops/\`touch owned\`\njob x/job`, 'a=1\n');
    const before = root.tree();
    const facts = await observe(shell, root);
    expect([facts.services, facts.jobs]).toMatchObject([{ reason: 'garbled' }, { reason: 'garbled' }]);
    expect(root.tree()).toEqual(before);
  });

  it('reads every setting but Spotlight when mdutil hangs', async () => {
    const root = macRoot(shell);
    root.tool('usr/bin/mdutil', 'exec "$R/bin/sleep" 600');
    const probes = allProbes()
      .filter(({ name }) => ['spotlight', 'node-settings'].includes(name))
      .map((probe) => (probe.name === 'spotlight' ? { ...probe, deadlineMs: 1_000 } : probe));
    const { spotlight, firewall, 'search-path': path } = await observe(shell, root, probes);
    expect([spotlight, firewall, path.kind]).toMatchObject([{ reason: 'timed-out' }, { value: 'off' }, 'known']);
    const mdutil = root.started().find((one) => one.tool === 'usr/bin/mdutil');
    expect(() => process.kill(mdutil?.pid ?? 0, 0)).toThrow(/ESRCH/);
  });

  it('stops a hanging launchctl together with its probe', async () => {
    const root = macRoot(shell);
    root.file('Library/LaunchDaemons/dev.meshwright.keeper.plist', '');
    root.tool('bin/launchctl', 'exec "$R/bin/sleep" 600');
    const probes = allProbes()
      .filter(({ name }) => name === 'launchd-services')
      .map((probe) => ({ ...probe, deadlineMs: 1_000 }));
    const { end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
    expect(parseFrames((await end).stdout, { probes, boundary })[0]).toMatchObject({ isLate: true });
    const launchctl = root.started().find((one) => one.tool === 'bin/launchctl');
    expect(() => process.kill(launchctl?.pid ?? 0, 0)).toThrow(/ESRCH/);
  });
});
