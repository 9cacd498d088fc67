import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const domain = 'Library/Preferences/com.apple.TimeMachine';

/** mdutil of a Mac; `set` is the body of every call that changes a setting. */
const mdutil = (set: string): string => `case "$*" in
('-a -s') printf '/:\\n\\tIndexing %s\\n' "$(/bin/cat "$R/../index")" ;;
(*) ${set} ;;
esac`;
const setsIndex = 'case $3 in (on) v="enabled. " ;; (*) v=disabled. ;; esac; printf %s "$v" >"$R/../index"';

/** mdutil of a Mac with several volumes, in the order of their files. */
const perVolume = `case "$*" in
('-a -s') for i in "$R"/../volumes/*; do /bin/cat "$i" "$R/../states/\${i##*/}"; done ;;
('-i on '*) for i in "$R"/../volumes/*; do
  read -r v <"$i"
  [ "$v" != "$3:" ] || printf '\\tIndexing enabled. \\n' >"$R/../states/\${i##*/}"
done ;;
(*) exit 1 ;;
esac`;

function withBackups(root: MacRoot, isOn: boolean): void {
  root.file(`${domain}.plist`, '');
  root.file('../auto', isOn ? '1\n' : '0\n');
  root.recorded('usr/bin/defaults', '/bin/cat "$R/../auto"');
  root.recorded('usr/bin/tmutil', 'case $1 in (enable) v=1 ;; (*) v=0 ;; esac; printf "%s\\n" "$v" >"$R/../auto"');
}

/** launchctl of a Mac that stores overrides; the last line of a label counts. */
const overrides = `case $1 in
(print-disabled) printf 'disabled services = {\\n'; /bin/cat "$R/../overrides"; printf '}\\n' ;;
(*) { /bin/grep -v "\${2##*/}" "$R/../overrides"; printf '\\t"%s" => %sd\\n' "\${2##*/}" "$1"; } >"$R/../new"
  /bin/mv "$R/../new" "$R/../overrides" ;;
esac`;

describe.each(scriptShells)('background services in $name', (shell) => {
  const spotlight: ScriptCall = { name: 'stop-spotlight', args: {} };
  const backups: ScriptCall = { name: 'stop-backups', args: {} };

  it('are stopped only once', async () => {
    const root = newRoot(shell);
    root.file('../index', 'enabled. ');
    root.recorded('usr/bin/mdutil', mdutil(setsIndex));
    withBackups(root, true);
    for (const call of [spotlight, backups]) {
      expect(await run(root, call)).toEqual(changed);
      expect(await run(root, call)).toEqual(unchanged);
    }
    const writes = root.calls().filter((call) => !/ -s$|^defaults/.test(call));
    expect(writes).toEqual(['mdutil -a -i off', 'tmutil disable']);
  });

  it('fail to stop if the backup state cannot be read', async () => {
    const root = newRoot(shell);
    withBackups(root, true);
    root.recorded('usr/bin/defaults', 'printf "Could not connect to cfprefsd\\n" >&2; exit 1');
    expect(await run(root, backups)).toMatchObject({ kind: 'failed', slug: 'defaults' });
    root.recorded(
      'usr/bin/defaults',
      'printf "The domain/default pair of (x, AutoBackup) does not exist\\n" >&2; exit 1',
    );
    expect(await run(root, backups)).toEqual(unchanged);
  });

  it('disable and restore the photo analysis agents, each once', async () => {
    const root = newRoot(shell);
    root.file('../overrides', '\t"com.apple.mediaanalysisd" => disabled\n');
    root.recorded('bin/launchctl', overrides);
    const call: ScriptCall = { name: 'stop-photos-analysis', args: {} };
    expect(await run(root, call)).toEqual(changed);
    expect(await run(root, call)).toEqual(unchanged);
    root.file(`${ours}/baseline/photos-analysis`, 'com.apple.mediaanalysisd off\ncom.apple.photoanalysisd on\n');
    const back = { name: 'restore-value', args: { key: 'photos-analysis' } } as const;
    expect(await run(root, back)).toEqual(changed);
    expect(await run(root, back)).toEqual(unchanged);
    const domain = `user/${process.env['SUDO_UID'] ?? 0}`;
    expect(root.calls().filter((one) => !one.includes('print-disabled'))).toEqual([
      `launchctl disable ${domain}/com.apple.mediaanalysisd`,
      `launchctl disable ${domain}/com.apple.photoanalysisd`,
      `launchctl enable ${domain}/com.apple.photoanalysisd`,
    ]);
  });

  it('fail if launchd does not change the photo analysis agents', async () => {
    const root = newRoot(shell);
    root.recorded('bin/launchctl', 'case $1 in (print-disabled) printf "disabled services = {\\n}\\n" ;; esac');
    root.tool('bin/sleep', 'exit 0');
    const call: ScriptCall = { name: 'stop-photos-analysis', args: {} };
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'launchctl' });
    for (const words of [
      'com.apple.photoanalysisd off\n',
      'com.apple.photoanalysisd perhaps\n',
      'com.apple.dock on\n',
    ]) {
      root.file(`${ours}/baseline/photos-analysis`, words);
      const back = { name: 'restore-value', args: { key: 'photos-analysis' } } as const;
      expect(await run(root, back)).toMatchObject({ kind: 'failed', slug: 'restore' });
    }
  });

  it('do not need a stop if they were never set up', async () => {
    const root = newRoot(shell);
    root.recorded('usr/bin/defaults', 'printf "does not exist\\n" >&2; exit 1');
    expect(await run(root, backups)).toEqual(unchanged);
  });

  it('fail if the tool does not stop them', async () => {
    const root = newRoot(shell);
    root.file('../index', 'enabled. ');
    root.recorded('usr/bin/mdutil', mdutil(':'));
    root.tool('bin/sleep', 'exit 0');
    expect(await run(root, spotlight)).toMatchObject({ kind: 'failed', slug: 'mdutil' });
    withBackups(root, true);
    root.recorded('usr/bin/tmutil', 'printf "tmutil: disable requires Full Disk Access privileges.\\n" >&2; exit 80');
    expect(await run(root, backups)).toMatchObject({ kind: 'failed', slug: 'tmutil' });
  });

  it('are restored to their baseline', async () => {
    const root = newRoot(shell);
    withBackups(root, false);
    const call = { name: 'restore-value', args: { key: 'time-machine' } } as const;
    root.file(`${ours}/baseline/time-machine`, 'on\n');
    expect(await run(root, call)).toEqual(changed);
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('are restored per volume and only for existing volumes', async () => {
    const root = newRoot(shell);
    for (const [at, volume] of ['/', '/Volumes/My Disk', '/Volumes/Off', '/Volumes/New'].entries()) {
      root.file(`../volumes/${at}`, `${volume}:\n`);
      root.file(`../states/${at}`, '\tIndexing disabled.\n');
    }
    root.recorded('usr/bin/mdutil', perVolume);
    const before = ['/ on', '/Volumes/My Disk on', '/Volumes/Off off', '/Volumes/Gone on', ''].join('\n');
    root.file(`${ours}/baseline/spotlight`, before);
    const call = { name: 'restore-value', args: { key: 'spotlight' } } as const;
    expect(await run(root, call)).toEqual(changed);
    expect(await run(root, call)).toEqual(unchanged);
    expect(root.calls().filter((one) => !one.endsWith(' -s'))).toEqual([
      'mdutil -i on /',
      'mdutil -i on /Volumes/My Disk',
    ]);
  });

  it('fail to restore if the tool does nothing or the baseline is invalid', async () => {
    const root = newRoot(shell);
    root.file('../index', 'disabled.');
    root.recorded('usr/bin/mdutil', mdutil(':'));
    root.tool('bin/sleep', 'exit 0');
    const call = { name: 'restore-value', args: { key: 'spotlight' } } as const;
    for (const words of ['/ on\n', '/ perhaps\n']) {
      root.file(`${ours}/baseline/spotlight`, words);
      expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'restore' });
    }
  });
});
