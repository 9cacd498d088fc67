import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { changed, type MacRoot, makeMacRoot, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
/** The calls that changed the node, without those that only read. */
const writes = (root: MacRoot, reads: RegExp): readonly string[] => root.calls().filter((call) => !reads.test(call));

describe.each(scriptShells)('set-power in $name', (shell) => {
  const call: ScriptCall = { name: 'set-power', args: { sleepMinutes: 0, restartAfterPowerLoss: true } };
  /** A pmset whose battery section comes first and has the same keys. */
  const pmset = (take: string) => `case "$*" in
('-g custom') printf 'Battery Power:\\n sleep                0\\n autorestart          1\\nAC Power:\\n Sleep On Power Button 1\\n'
  printf ' sleep                %s\\n autorestart          %s\\n' "$(/bin/cat "$R/../sleep")" "$(/bin/cat "$R/../auto")" ;;
(-c*) ${take} ;;
esac`;
  const taking = `shift
while [ $# -gt 0 ]; do
  case $1 in (sleep) printf %s "$2" >"$R/../sleep" ;; (autorestart) printf %s "$2" >"$R/../auto" ;; esac
  shift 2
done`;

  it('sets the AC power settings once and reads them back', async () => {
    const root = newRoot(shell);
    root.file('../sleep', '10');
    root.file('../auto', '0');
    root.recorded('usr/bin/pmset', pmset(taking));
    expect(await run(root, call)).toEqual(changed);
    expect(await run(root, call)).toEqual(unchanged);
    expect(writes(root, /-g/)).toEqual(['pmset -c sleep 0 autorestart 1']);
    expect(await run(root, { name: 'set-power', args: { sleepMinutes: 30 } })).toEqual(changed);
    expect([root.read('../sleep'), root.read('../auto')]).toEqual(['30', '1']);
  });

  it('fails when pmset accepts the settings but shows others', async () => {
    const root = newRoot(shell);
    root.file('../sleep', '10');
    root.file('../auto', '0');
    root.tool('bin/sleep', 'exit 0');
    root.recorded('usr/bin/pmset', pmset(':'));
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'pmset' });
    root.recorded('usr/bin/pmset', pmset('printf "\'pmset\' must be run as root...\\n" >&2; exit 1'));
    expect(await run(root, call)).toMatchObject({ slug: 'pmset', text: "'pmset' must be run as root..." });
  });
});

describe.each(scriptShells)('set-wired-limit in $name', (shell) => {
  it('sets the limit once and reads it back', async () => {
    const root = newRoot(shell);
    const call: ScriptCall = { name: 'set-wired-limit', args: { megabytes: 491_520 } };
    expect(await run(root, call)).toEqual(changed);
    expect(root.read('../wired')).toBe('491520\n');
    expect(await run(root, call)).toEqual(unchanged);
    root.tool('usr/sbin/sysctl', 'case $* in (-n*) printf "0\\n" ;; esac');
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'sysctl' });
  });
});
