import { closeSync, openSync, symlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mostLogBytes } from '../../../../src/node/paths/own-paths.ts';
import { keepText } from '../../../../src/rack/keeper/program-script.ts';
import { changed, type MacRoot, makeMacRoot, ours, run } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const data = `${ours}/keeper/data`;
const log = `${ours}/log/keeper`;

/** Runs one round, started as launchd does. */
async function round(root: MacRoot, shell: Shell): Promise<number | null> {
  root.file(`${ours}/keeper/keep`, keepText);
  const words = [...shell.argv.slice(0, -1), join(root.folder, ours, 'keeper/keep')];
  const { code } = await root.run(`exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}\n`);
  return code;
}

const writes = (root: MacRoot): readonly string[] =>
  root.calls().filter((call) => /^(?:ifconfig \S+ (?:inet|deletem|destroy)|PlistBuddy -c Delete)/.test(call));

/** Receptacles 2 and 3 are en5 and en3; en0 is not a receptacle. `live` contains the output of ifconfig. */
function withNetwork(root: MacRoot, live: string, bridges = 'Dict {\n}\n'): MacRoot {
  const ports = [
    ['Ethernet', 'en0'],
    ['Thunderbolt 2', 'en5'],
    ['Thunderbolt 3', 'en3'],
  ];
  root.file('../ports', ports.map(([port, device]) => `\nHardware Port: ${port}\nDevice: ${device}\n`).join(''));
  root.file('../live', live);
  root.file('../bridges', bridges);
  root.recorded('usr/sbin/networksetup', '/bin/cat "$R/../ports"');
  root.recorded('sbin/ifconfig', '/bin/cat "$R/../live"');
  root.recorded(
    'usr/libexec/PlistBuddy',
    `case $2 in (Print*Bridge) /bin/cat "$R/../bridges" ;; (*) printf 'Print: Entry, "x", Does Not Exist\\n' >&2; exit 1 ;; esac`,
  );
  return root;
}

const up = (device: string, lines: string): string => `${device}: flags=8863<UP> mtu 1500\n${lines}\tstatus: active\n`;
const member = (name: string): string => `\tmember: ${name} flags=3<LEARNING>\n`;
const kept = (name: string, mark: string, ...members: readonly string[]): string =>
  `    ${name} = Dict {\n        Options = Dict {\n${mark}        }\n        Interfaces = Array {\n${members.map((one) => `            ${one}\n`).join('')}        }\n    }\n`;
const ownMark = '            __AUTO__ = thunderbolt-bridge\n';
const own = '\tinet 169.254.3.4 netmask 0xffff0000 broadcast 169.254.255.255\n';

describe.each(scriptShells)('a keeper round in $name', (shell) => {
  it("sets each receptacle's address on its current active interface", async () => {
    const root = withNetwork(
      newRoot(shell),
      `${up('en0', own)}${up('en5', own)}en3: flags=8863<UP>\n\tstatus: inactive\n`,
    );
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\naddress 3 10.77.0.5 0xfffffffc\naddress 4 10.77.0.9 0xfffffffc\n');
    await round(root, shell);
    expect(writes(root)).toEqual(['ifconfig en5 inet 10.77.0.1 netmask 0xfffffffc']);
    expect(root.has(log)).toBe(false);
  });

  it("removes a bridge made only of receptacles, but not a user's bridge", async () => {
    const live = up('bridge0', member('en3') + member('en5')) + up('bridge1', member('en0') + member('en5'));
    const all = [kept('bridge0', ownMark, 'en3', 'en5'), kept('bridge1', '', 'en0', 'en5'), kept('bridge2', '')];
    const root = withNetwork(newRoot(shell), live, `Dict {\n${all.join('')}}\n`);
    root.file(data, 'bridge remove\n');
    await round(root, shell);
    const file = `${root.folder}/Library/Preferences/SystemConfiguration/preferences.plist`;
    expect(writes(root)).toEqual([
      `PlistBuddy -c Delete :VirtualNetworkInterfaces:Bridge:bridge0 ${file}`,
      'ifconfig bridge0 deletem en3',
      'ifconfig bridge0 deletem en5',
      'ifconfig bridge0 destroy',
    ]);
  });

  it.each<readonly [string, string, string]>([
    ['of Internet Sharing', up('bridge100', member('en5')), ''],
    ['made by a user from receptacles', up('bridge1', member('en5')), kept('bridge1', '', 'en5')],
    [
      'with an address',
      up('bridge0', `${member('en5')}\tinet 10.0.0.7 netmask 0xffffff00\n`),
      kept('bridge0', ownMark, 'en5'),
    ],
  ])('does not change a bridge %s', async (_, live, bridges) => {
    const root = withNetwork(newRoot(shell), live, `Dict {\n${bridges}}\n`);
    root.file(data, 'bridge remove\n');
    expect([await round(root, shell), writes(root)]).toEqual([0, []]);
  });

  it('rotates overlong logs while they are open for writing', async () => {
    const root = withNetwork(newRoot(shell), '');
    root.file(data, 'wired 1000\n');
    const long = `${ours}/log/chat.log`;
    for (const [path, text] of [
      [long, 'x'.repeat(mostLogBytes + 1)],
      [`${ours}/log/pair.log`, 'y'.repeat(mostLogBytes)],
      [`${long}.1`, 'older'],
      ['elsewhere', 'z'.repeat(mostLogBytes + 1)],
    ] as const) {
      root.file(path, text);
    }
    symlinkSync(join(root.folder, 'elsewhere'), join(root.folder, ours, 'log/link.log'));
    const appending = openSync(join(root.folder, long), 'a');
    await round(root, shell);
    writeSync(appending, 'next');
    closeSync(appending);
    const size = (path: string): number => root.read(path).length;
    expect([root.read(long), size(`${long}.1`), size(`${ours}/log/pair.log`), size('elsewhere')]).toEqual([
      'next',
      mostLogBytes + 1,
      mostLogBytes,
      mostLogBytes + 1,
    ]);
  });

  it('logs once why it does not remove a bridge named bridge0', async () => {
    const bridges: readonly (readonly [string, string, string])[] = [
      [
        'address',
        up('bridge0', `${member('en5')}\tinet 10.0.0.7 netmask 0xffffff00\n`),
        kept('bridge0', ownMark, 'en5'),
      ],
      ['members', up('bridge0', member('en0') + member('en5')), kept('bridge0', '', 'en0', 'en5')],
      ['members', up('en5', own), kept('bridge0', '', 'en0')],
    ];
    for (const [because, live, inFile] of bridges) {
      const root = withNetwork(newRoot(shell), live, `Dict {\n${inFile}}\n`);
      root.file(data, 'bridge remove\n');
      await round(root, shell);
      await round(root, shell);
      expect([writes(root), root.read(log)]).toEqual([
        [],
        expect.stringMatching(new RegExp(`^at=\\S* bridge bridge0 left because=${because}\\n$`)),
      ]);
    }
  });

  it('removes a differently named bridge that macOS marked as automatic', async () => {
    const root = withNetwork(
      newRoot(shell),
      up('bridge1', member('en5')),
      `Dict {\n${kept('bridge1', ownMark, 'en5')}}\n`,
    );
    root.file(data, 'bridge remove\n');
    await round(root, shell);
    expect(writes(root).at(-1)).toBe('ifconfig bridge1 destroy');
  });

  it.each([
    ['the preferences', 'usr/libexec/PlistBuddy', 0],
    ['the interfaces', 'sbin/ifconfig', 1],
    ['the ports', 'usr/sbin/networksetup', 1],
  ] as const)('does not change bridges when it cannot read %s', async (_, tool, code) => {
    const root = withNetwork(newRoot(shell), up('bridge0', member('en5')));
    root.file(data, 'bridge remove\n');
    root.recorded(tool, 'exit 1');
    root.tool('bin/sleep', 'case $1 in (1) ;; (*) exec /bin/sleep "$@" ;; esac');
    expect([await round(root, shell), writes(root)]).toEqual([code, []]);
  });

  it('removes an address from the wrong receptacle before setting it', async () => {
    const root = withNetwork(
      newRoot(shell),
      `${up('en3', '\tinet 10.77.0.1 netmask 0xfffffffc broadcast 10.77.0.3\n')}${up('en5', own)}`,
    );
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\n');
    await round(root, shell);
    expect(writes(root)).toEqual([
      'ifconfig en3 inet 10.77.0.1 -alias',
      'ifconfig en5 inet 10.77.0.1 netmask 0xfffffffc',
    ]);
  });

  it('stops itself when it hangs', async () => {
    const root = withNetwork(newRoot(shell), up('en5', own));
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\n');
    root.recorded('usr/sbin/networksetup', 'exec /bin/sleep 1');
    root.tool('bin/sleep', 'case $1 in (45) exec /bin/sleep 0.2 ;; esac');
    expect(await round(root, shell)).toBe(null);
    expect(writes(root)).toEqual([]);
  });

  it('discards data that a confirmed change has made outdated', async () => {
    const root = withNetwork(newRoot(shell), up('en5', own));
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\n');
    root.file(`${ours}/transaction/confirmed/keeper-confirmed`, '');
    await round(root, shell);
    expect([root.calls(), root.has(data), root.has(`${ours}/transaction/confirmed/keeper-confirmed`)]).toEqual([
      [],
      false,
      false,
    ]);
  });

  it('skips interfaces that are bridged, already right or without data', async () => {
    const bridged = up('bridge0', '\tmember: en5 flags=3<>\n') + up('en5', '');
    const right = up('en3', '\tinet 10.77.0.5 netmask 0xfffffffc broadcast 10.77.0.7\n');
    const root = withNetwork(newRoot(shell), bridged + right);
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\naddress 3 10.77.0.5 0xfffffffc\n');
    await round(root, shell);
    expect(writes(root)).toEqual([]);
    const without = withNetwork(newRoot(shell), up('en5', own));
    await round(without, shell);
    expect(without.calls()).toEqual([]);
  });

  it('does nothing while a network change is pending or being rolled back', async () => {
    for (const state of ['pending', 'rolling']) {
      const root = withNetwork(newRoot(shell), up('en5', own));
      root.file(data, 'wired 4096\naddress 2 10.77.0.1 0xfffffffc\n');
      root.file(`${ours}/transaction/${state}/about`, '');
      await round(root, shell);
      expect([state, root.calls(), root.has('../wired')]).toEqual([state, [], false]);
    }
  });

  it('restores the wired limit, logs that once and limits its log', async () => {
    const root = withNetwork(newRoot(shell), '');
    root.file(data, 'wired 4096\n');
    root.file(log, 'at=1 an older line that is long enough to fill a log\n'.repeat(2_000));
    await round(root, shell);
    await round(root, shell);
    const lines = root.read(log).trimEnd().split('\n');
    expect([root.read('../wired'), lines.length]).toEqual(['4096\n', 200]);
    expect(lines.at(-1)).toMatch(/^at=\d+ wired-limit from=0 to=4096$/);
    expect(root.read(`${ours}/keeper/last`)).toBe(`${lines.at(-1)}\n`);
  });
});

describe.each(scriptShells)('load-keeper in $name', (shell) => {
  it.each([
    ['still runs', ['state = running', 'pid = 9', 'runs = 1', 'last exit code = 0']],
    ['has not started', ['state = not running', 'runs = 0', 'last exit code = (never exited)']],
    ['has failed once', ['state = not running', 'runs = 1', 'last exit code = 1']],
  ])('waits for a successful first round while the keeper %s', async (_, first) => {
    const root = newRoot(shell);
    root.file('Library/LaunchDaemons/dev.meshwright.keeper.plist', '<plist/>');
    const printed = (fields: readonly string[]) =>
      `printf '%s = {\\n' "$2"; printf '\\t%s\\n' ${fields.map((one) => `'${one}'`).join(' ')}`;
    root.recorded(
      'bin/launchctl',
      `f="$R/../looks" n=0
case $1 in
(bootstrap) : >"$f" ;;
(print)
  [ -e "$f" ] || { echo 'Could not find service' >&2; exit 113; }
  echo x >>"$f"
  if [ "$(/usr/bin/wc -l <"$f")" -lt 3 ]; then ${printed(first)}; else ${printed(['state = not running', 'runs = 2', 'last exit code = 0'])}; fi ;;
esac`,
    );
    expect(await run(root, { name: 'load-keeper', args: { reload: false } })).toEqual(changed);
    expect(root.calls().filter((call) => call.startsWith('launchctl print '))).toHaveLength(4);
  });
});
