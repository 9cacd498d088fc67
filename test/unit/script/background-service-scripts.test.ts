import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../src/model/node-script.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const domain = 'Library/Preferences/com.apple.TimeMachine';

/** mdutil of a Mac; `set` is what it does when it is told to. */
const mdutil = (set: string): string => `case "$*" in
('-a -s') printf '/:\\n\\tIndexing %s\\n' "$(/bin/cat "$R/../index")" ;;
(*) ${set} ;;
esac`;
const setsIndex = 'case $3 in (on) v="enabled. " ;; (*) v=disabled. ;; esac; printf %s "$v" >"$R/../index"';

function withBackups(root: MacRoot, isOn: boolean): void {
  root.file(`${domain}.plist`, '');
  root.file('../auto', isOn ? '1\n' : '0\n');
  root.recorded('usr/bin/defaults', '/bin/cat "$R/../auto"');
  root.recorded('usr/bin/tmutil', 'case $1 in (enable) v=1 ;; (*) v=0 ;; esac; printf "%s\\n" "$v" >"$R/../auto"');
}

describe.each(scriptShells)('services in the background under $name', (shell) => {
  const spotlight: ScriptCall = { name: 'stop-spotlight', args: {} };
  const backups: ScriptCall = { name: 'stop-backups', args: {} };

  it('are stopped once', async () => {
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

  it('that were never set up need no stop', async () => {
    const root = newRoot(shell);
    root.recorded('usr/bin/defaults', 'printf "does not exist\\n" >&2; exit 1');
    expect(await run(root, backups)).toEqual(unchanged);
  });

  it('are not believed to be stopped when the tool did nothing', async () => {
    const root = newRoot(shell);
    root.file('../index', 'enabled. ');
    root.recorded('usr/bin/mdutil', mdutil(':'));
    root.tool('bin/sleep', 'exit 0');
    expect(await run(root, spotlight)).toMatchObject({ kind: 'failed', slug: 'mdutil' });
    withBackups(root, true);
    root.recorded('usr/bin/tmutil', 'printf "tmutil: disable requires Full Disk Access privileges.\\n" >&2; exit 80');
    expect(await run(root, backups)).toMatchObject({ kind: 'failed', slug: 'tmutil' });
  });

  it('are set back to what they were', async () => {
    const root = newRoot(shell);
    root.file('../index', 'disabled.');
    root.recorded('usr/bin/mdutil', mdutil(setsIndex));
    withBackups(root, false);
    for (const key of ['spotlight', 'time-machine'] as const) {
      root.file(`${ours}/baseline/${key}`, 'on\n');
      expect(await run(root, { name: 'restore-value', args: { key } })).toEqual(changed);
      expect(await run(root, { name: 'restore-value', args: { key } })).toEqual(unchanged);
    }
  });
});
