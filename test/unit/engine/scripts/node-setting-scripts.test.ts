import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { accountTool, directoryTool } from './directory-tool.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
/** The calls that changed the node, without those that only read. */
const writes = (root: MacRoot, reads: RegExp): readonly string[] => root.calls().filter((call) => !reads.test(call));

describe.each(scriptShells)('set-updates in $name', (shell) => {
  const call: ScriptCall = { name: 'set-updates', args: {} };
  const defaults = (write: string) => `case $1 in
(read) [ -e "$R/../updates" ] || { printf 'does not exist\\n' >&2; exit 1; }; /bin/cat "$R/../updates" ;;
(write) ${write} ;;
esac`;

  it('switches automatic updates off once, whether they were set before or not', async () => {
    for (const before of [undefined, '1\n']) {
      const root = newRoot(shell);
      if (before !== undefined) root.file('../updates', before);
      root.recorded('usr/bin/defaults', defaults('printf "0\\n" >"$R/../updates"'));
      expect(await run(root, call)).toEqual(changed);
      expect(await run(root, call)).toEqual(unchanged);
      expect(writes(root, /^defaults read/)).toEqual([
        `defaults write ${root.folder}/Library/Preferences/com.apple.SoftwareUpdate AutomaticallyInstallMacOSUpdates -bool false`,
      ]);
    }
  });

  it('fails when defaults exits with 0 but changes nothing', async () => {
    const root = newRoot(shell);
    root.recorded('usr/bin/defaults', defaults('exit 0'));
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'defaults' });
    root.recorded('usr/bin/defaults', defaults("printf 'Could not write domain; exiting\\n' >&2; exit 1"));
    expect(await run(root, call)).toMatchObject({ slug: 'defaults', text: 'Could not write domain; exiting' });
  });
});

describe.each(scriptShells)('set-names in $name', (shell) => {
  const scutil = `case $1 in
(--get) [ -e "$R/../$2" ] || { printf '%s: not set\\n' "$2" >&2; exit 1; }; /bin/cat "$R/../$2" ;;
(--set) printf '%s\\n' "$3" >"$R/../$2" ;;
esac`;

  it('sets only the names that differ', async () => {
    const root = newRoot(shell);
    root.file('../ComputerName', 'studio-1\n');
    root.file('../LocalHostName', 'studio-1-2\n');
    root.recorded('usr/sbin/scutil', scutil);
    const args = { computerName: 'studio-1', localHostName: 'studio-1', hostName: 'studio-1' };
    expect(await run(root, { name: 'set-names', args })).toEqual(changed);
    expect(writes(root, /--get/)).toEqual(['scutil --set LocalHostName studio-1', 'scutil --set HostName studio-1']);
    expect(await run(root, { name: 'set-names', args })).toEqual(unchanged);
  });

  it('fails when scutil shows a different name', async () => {
    const root = newRoot(shell);
    root.recorded('usr/sbin/scutil', 'exit 0');
    const call: ScriptCall = { name: 'set-names', args: { localHostName: 'studio-1' } };
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'scutil' });
  });
});

describe.each(scriptShells)('the rank account in $name', (shell) => {
  const call: ScriptCall = { name: 'make-account', args: { name: '_meshrank' } };
  const folder = '$R/../s';
  const file = `${ours}/accounts/_meshrank`;
  const withDirectory = (): MacRoot => {
    const root = newRoot(shell);
    root.recorded('usr/bin/dscl', directoryTool(folder));
    root.tool('usr/bin/id', accountTool(folder));
    root.file('../s/directory/Users/ana', 'UniqueID: 501\n');
    root.file('../s/directory/Groups/taken', 'PrimaryGroupID: 450\n');
    return root;
  };
  const created = (root: MacRoot): readonly string[] => root.calls().filter((one) => one.includes(' -create '));

  it('is created once with the first free UID and GID', async () => {
    const root = withDirectory();
    expect(await run(root, call)).toEqual(changed);
    expect(created(root)).toEqual([
      'dscl . -create /Groups/_meshrank',
      'dscl . -create /Groups/_meshrank PrimaryGroupID 451',
      'dscl . -create /Users/_meshrank',
      'dscl . -create /Users/_meshrank UniqueID 451',
      'dscl . -create /Users/_meshrank PrimaryGroupID 451',
      'dscl . -create /Users/_meshrank NFSHomeDirectory /var/empty',
      'dscl . -create /Users/_meshrank UserShell /usr/bin/false',
      'dscl . -create /Users/_meshrank Password *',
    ]);
    expect(root.read(file)).toBe('uid=451 id=8A0C52C6-52B1-4E2B-8C55-35C0E5B5F0A4\n');
    expect(root.has(`${file}.begun`)).toBe(false);
    expect(await run(root, call)).toEqual(unchanged);
  });

  it("fails with the tool's error whenever its creation is interrupted", async () => {
    const root = withDirectory();
    for (let step = 1; step <= 8; step++) {
      root.file(
        '../s/refusal',
        `n=$(/bin/cat "$R/../s/n" 2>/dev/null || printf 0)
n=$((n + 1)); printf '%s' "$n" >"$R/../s/n"
[ "$n" -lt 2 ] || { : >"$R/../s/n"; printf 'ended\\n' >&2; exit 1; }
`,
      );
      root.file('../s/n', '0');
      expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'dscl', text: 'ended' });
    }
  });

  it('is not changed if a person created it', async () => {
    const root = withDirectory();
    root.file('../s/directory/Users/_meshrank', 'UniqueID: 301\n');
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'other-account' });
    root.file(file, 'uid=451 id=8A0C52C6-52B1-4E2B-8C55-35C0E5B5F0A4\n');
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'other-account' });
    expect(created(root)).toEqual([]);
  });

  it('is reused only if macOS kept it unchanged after an uninstall', async () => {
    const root = withDirectory();
    expect(await run(root, call)).toEqual(changed);
    const kept = root.read(file);
    const record = root.read('../s/directory/Users/_meshrank');
    root.file('../s/refusal', "printf '<dscl_cmd> DS Error: -14120 (eDSPermissionError)\\n' >&2; exit 40\n");
    await run(root, { name: 'remove-accounts', args: { names: ['_meshrank'] } });
    root.file('../s/refusal', ':\n');
    expect([await run(root, call), root.read(file), root.has(`${file}.begun`)]).toEqual([changed, kept, false]);
    for (const first of ['449', '450', '499', '500']) {
      const edge = withDirectory();
      edge.file('../s/directory/Groups/taken', '');
      edge.file('../s/directory/Users/_meshrank', record.replaceAll(' 451', ` ${first}`));
      edge.file('../s/directory/Groups/_meshrank', `PrimaryGroupID: ${first}\n`);
      const isOurs = first === '450' || first === '499';
      expect([first, (await run(edge, call)).kind]).toEqual([first, isOurs ? 'done' : 'failed']);
    }
    for (const [path, text] of [
      ['Users/_meshrank', record.replace('/usr/bin/false', '/bin/sh')],
      ['Users/_meshrank', record.replaceAll(' 451', ' 551')],
      ['Users/_meshrank', record.replace('UniqueID: 451', 'UniqueID: x')],
      ['Groups/_meshrank', 'PrimaryGroupID: 452\n'],
    ] as const) {
      const other = withDirectory();
      other.file('../s/directory/Users/_meshrank', record);
      other.file('../s/directory/Groups/_meshrank', 'PrimaryGroupID: 451\n');
      other.file(`../s/directory/${path}`, text);
      expect(await run(other, call), text).toMatchObject({ kind: 'failed', slug: 'other-account' });
      expect(created(other)).toEqual([]);
    }
  });

  it('is not created if macOS refuses or no ID is free', async () => {
    const refused = withDirectory();
    refused.file('../s/refusal', "printf '<dscl_cmd> DS Error: -14120 (eDSPermissionError)\\n' >&2; exit 40\n");
    expect(await run(refused, call)).toMatchObject({ slug: 'no-full-disk-access' });
    const full = withDirectory();
    for (let number = 450; number < 500; number++) {
      full.file(`../s/directory/Groups/g${number}`, `PrimaryGroupID: ${number}\n`);
    }
    expect(await run(full, call)).toMatchObject({ slug: 'no-number' });
    const taken = withDirectory();
    taken.file(`${file}.begun`, '460\n');
    taken.file('../s/directory/Users/ben', 'UniqueID: 460\n');
    expect(await run(taken, call)).toMatchObject({ slug: 'other-account', text: 'its number 460 now belongs to ben' });
  });

  const remove: ScriptCall = { name: 'remove-accounts', args: { names: ['_meshrank'] } };
  const records = (root: MacRoot) => ['Users', 'Groups'].map((kind) => root.has(`../s/directory/${kind}/_meshrank`));

  it('is removed with its files, even if macOS keeps the directory entry', async () => {
    const gone = withDirectory();
    expect(await run(gone, call)).toEqual(changed);
    expect(await run(gone, remove)).toEqual(changed);
    expect([...records(gone), gone.has(file)]).toEqual([false, false, false]);
    const root = withDirectory();
    expect(await run(root, call)).toEqual(changed);
    root.file(`${ours}/accounts/folders/_meshrank/home/x`, 'x');
    root.file('../s/refusal', "printf '<dscl_cmd> DS Error: -14120 (eDSPermissionError)\\n' >&2; exit 40\n");
    expect(await run(root, remove)).toEqual(changed);
    expect([...records(root), root.has(file)]).toEqual([true, true, false]);
    expect(root.has(`${ours}/accounts/folders/_meshrank`)).toBe(false);
  });

  it('is removed only after its processes have stopped', async () => {
    const root = withDirectory();
    expect(await run(root, call)).toEqual(changed);
    const left = spawn('/bin/sleep', ['60']);
    const ended = once(left, 'exit');
    root.tool('bin/ps', `kill -0 ${left.pid} 2>/dev/null && printf '  451 ${left.pid}\\n'; printf '    0 1\\n'`);
    expect(await run(root, remove)).toEqual(changed);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(records(root)).toEqual([false, false]);
    const stuck = withDirectory();
    expect(await run(stuck, call)).toEqual(changed);
    stuck.tool('bin/ps', "printf '  451 999999999\\n'");
    stuck.recorded('bin/sleep', ':');
    expect(await run(stuck, remove)).toMatchObject({ slug: 'still-running' });
    expect(stuck.calls().filter((one) => one.startsWith('sleep'))).toHaveLength(50);
    stuck.tool('bin/ps', "printf 'ps: no\\n'; exit 1");
    expect(await run(stuck, remove)).toMatchObject({ slug: 'ps', text: 'ps: no' });
    expect([...records(stuck), stuck.has(file)]).toEqual([true, true, true]);
  });

  it('is removed if half created, but kept if it is another account', async () => {
    const other = withDirectory();
    await run(other, call);
    other.file('../s/directory/Users/_meshrank', 'UniqueID: 450\nGeneratedUID: of a person\n');
    other.file('../s/directory/Groups/_meshrank', 'PrimaryGroupID: 700\n');
    expect(await run(other, remove)).toEqual(changed);
    expect([...records(other), other.has(file)]).toEqual([true, true, false]);
    const half = withDirectory();
    half.file(`${file}.begun`, '460\n');
    half.file('../s/directory/Users/_meshrank', 'UniqueID: 460\n');
    half.file('../s/directory/Groups/_meshrank', 'PrimaryGroupID: 460\n');
    expect(await run(half, remove)).toEqual(changed);
    expect([...records(half), half.has(`${file}.begun`)]).toEqual([false, false, false]);
  });

  it('is completed by the next run if interrupted before its last step', async () => {
    const root = withDirectory();
    await run(root, call);
    root.file(`${file}.begun`, '450\n');
    expect([await run(root, call), root.has(`${file}.begun`)]).toEqual([unchanged, false]);
  });
});

describe.each(scriptShells)('set-clock in $name', (shell) => {
  it("sets the clock from a time server or fails with the tool's error", async () => {
    const root = newRoot(shell);
    root.recorded('usr/bin/sntp', "printf '+0.018 +/- 0.013 time.apple.com 17.253.4.125\\n'");
    expect(await run(root, { name: 'set-clock', args: {} })).toEqual(changed);
    expect(root.calls()).toEqual(['sntp -sS time.apple.com']);
    root.tool('usr/bin/sntp', "printf 'sntp: nodename nor servname provided, or not known\\n' >&2; exit 1");
    expect(await run(root, { name: 'set-clock', args: {} })).toEqual({
      kind: 'failed',
      slug: 'no-time',
      text: 'sntp: nodename nor servname provided, or not known',
    });
  });
});

/** Screen Sharing as two files: whether it is loaded, and its override. */
const launchctl = `case $1 in
(print)
  [ -e "$R/../loaded" ] || { printf 'Bad request.\\nCould not find service "x" in domain for system\\n' >&2; exit 113; }
  printf 'system/x = {\\n\\tstate = not running\\n}\\n' ;;
(print-disabled) printf 'disabled services = {\\n'; [ ! -e "$R/../word" ] || printf '\\t"com.apple.screensharing" => %s\\n' "$(/bin/cat "$R/../word")"; printf '}\\n' ;;
(enable | disable) printf %s "\${1}d" >"$R/../word" ;;
(bootstrap) : >"$R/../loaded" ;;
(bootout) /bin/rm "$R/../loaded" ;;
esac`;

describe.each(scriptShells)('set-screen-sharing in $name', (shell) => {
  const set = (on: boolean): ScriptCall => ({ name: 'set-screen-sharing', args: { on } });
  const reads = /^launchctl print/;

  it('switches Screen Sharing on and off, now and for the next boot', async () => {
    const root = newRoot(shell);
    root.recorded('bin/launchctl', launchctl);
    root.tool('bin/sleep', 'exit 0');
    expect(await run(root, set(true))).toEqual(changed);
    expect(await run(root, set(true))).toEqual(unchanged);
    expect(await run(root, set(false))).toEqual(changed);
    expect(await run(root, set(false))).toEqual(unchanged);
    expect(writes(root, reads)).toEqual([
      'launchctl enable system/com.apple.screensharing',
      `launchctl bootstrap system ${root.folder}/System/Library/LaunchDaemons/com.apple.screensharing.plist`,
      'launchctl disable system/com.apple.screensharing',
      'launchctl bootout system/com.apple.screensharing',
    ]);
  });

  it('changes only the missing part', async () => {
    const root = newRoot(shell);
    root.file('../loaded', '');
    root.file('../word', 'disabled');
    root.recorded('bin/launchctl', launchctl);
    expect(await run(root, set(true))).toEqual(changed);
    expect(writes(root, reads)).toEqual(['launchctl enable system/com.apple.screensharing']);
  });

  it('fails when launchd does not show the service', async () => {
    const root = newRoot(shell);
    root.recorded('bin/launchctl', `case $1 in (bootstrap) exit 0 ;; esac\n${launchctl}`);
    root.tool('bin/sleep', 'exit 0');
    expect(await run(root, set(true))).toMatchObject({ kind: 'failed', slug: 'launchctl' });
  });
});

describe.each(scriptShells)('stop-firewall in $name', (shell) => {
  const tool = 'usr/libexec/ApplicationFirewall/socketfilterfw';
  const body = (set: string) => `case $1 in
(--getglobalstate) printf 'Firewall is enabled. (State = %s)\\n' "$(/bin/cat "$R/../firewall")" ;;
(*) ${set} ;;
esac`;

  it('switches the firewall off once with a tool that prints nothing', async () => {
    const root = newRoot(shell);
    root.file('../firewall', '2');
    root.recorded(tool, body('printf 0 >"$R/../firewall"'));
    expect(await run(root, { name: 'stop-firewall', args: {} })).toEqual(changed);
    expect(await run(root, { name: 'stop-firewall', args: {} })).toEqual(unchanged);
    expect(writes(root, /--get/)).toEqual(['socketfilterfw --setglobalstate off']);
  });

  it("fails with the tool's message if the firewall stays on", async () => {
    const root = newRoot(shell);
    root.file('../firewall', '1');
    root.recorded(tool, body("printf 'Must be root to change settings.\\n'"));
    expect(await run(root, { name: 'stop-firewall', args: {} })).toEqual({
      kind: 'failed',
      slug: 'socketfilterfw',
      text: 'Must be root to change settings.',
    });
  });
});

describe.each(scriptShells)('restore-value for node settings in $name', (shell) => {
  const back = (root: MacRoot, key: 'updates' | 'names' | 'screen-sharing' | 'firewall', value: string) => {
    root.file(`${ours}/baseline/${key}`, `${value}\n`);
    return run(root, { name: 'restore-value', args: { key } });
  };

  it('deletes the updates key to restore the macOS default', async () => {
    const root = newRoot(shell);
    root.file('../updates', '0\n');
    root.recorded(
      'usr/bin/defaults',
      `case $1 in
(read) /bin/cat "$R/../updates" 2>/dev/null || { printf 'x\\nThe domain/default pair of (a, b) does not exist\\n' >&2; exit 1; } ;;
(delete) /bin/rm "$R/../updates" ;;
(write) printf '0\\n' >"$R/../updates" ;;
esac`,
    );
    expect(await back(root, 'updates', 'on')).toEqual(changed);
    expect(await back(root, 'updates', 'on')).toEqual(unchanged);
    expect(await back(root, 'updates', 'off')).toEqual(changed);
  });

  it('restores the recorded names and clears unrecorded ones', async () => {
    const root = newRoot(shell);
    for (const key of ['ComputerName', 'LocalHostName', 'HostName']) root.file(`../${key}`, 'studio-1\n');
    root.recorded(
      'usr/sbin/scutil',
      `case $1 in
(--get) [ -s "$R/../$2" ] || { printf '%s: not set\\n' "$2" >&2; exit 1; }; /bin/cat "$R/../$2" ;;
(--set) : >"$R/../$2"; [ -z "$3" ] || printf '%s\\n' "$3" >"$R/../$2" ;;
esac`,
    );
    const then = "ComputerName Ana's Mac Studio\nLocalHostName Anas-Mac-Studio";
    expect(await back(root, 'names', then)).toEqual(changed);
    expect([root.read('../ComputerName'), root.read('../LocalHostName'), root.read('../HostName')]).toEqual([
      "Ana's Mac Studio\n",
      'Anas-Mac-Studio\n',
      '',
    ]);
    expect(await back(root, 'names', then)).toEqual(unchanged);
  });

  it('restores Screen Sharing, now and for the next boot', async () => {
    for (const state of ['on', 'off', 'on until the next start', 'off until the next start']) {
      for (const [isLoaded, word] of [
        [true, 'enabled'],
        [false, 'disabled'],
      ] as const) {
        const root = newRoot(shell);
        root.recorded('bin/launchctl', launchctl);
        root.tool('bin/sleep', 'exit 0');
        if (isLoaded) root.file('../loaded', '');
        root.file('../word', word);
        const result = await back(root, 'screen-sharing', state);
        expect([state, result]).toMatchObject([state, { kind: 'done', said: [] }]);
        expect([state, root.has('../loaded'), root.read('../word')]).toEqual([
          state,
          state.startsWith('on'),
          state === 'on' || state === 'off until the next start' ? 'enabled' : 'disabled',
        ]);
      }
    }
  });

  it('restores the firewall state', async () => {
    const root = newRoot(shell);
    root.file('../firewall', '0');
    root.recorded(
      'usr/libexec/ApplicationFirewall/socketfilterfw',
      `case "$*" in
(--getglobalstate) printf 'Firewall is enabled. (State = %s)\\n' "$(/bin/cat "$R/../firewall")" ;;
(--getblockall) printf 'Firewall has block all state set to disabled.\\n' ;;
('--setglobalstate on' | '--setblockall off') printf 1 >"$R/../firewall" ;;
('--setblockall on') printf 2 >"$R/../firewall" ;;
(*) printf 0 >"$R/../firewall" ;;
esac`,
    );
    for (const state of ['blocks-all', 'on', 'off']) {
      expect([state, await back(root, 'firewall', state)]).toEqual([state, changed]);
      expect([state, await back(root, 'firewall', state)]).toEqual([state, unchanged]);
    }
  });
});
