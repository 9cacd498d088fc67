import { describe, expect, it } from 'vitest';
import { takeLeaseScript } from '../../../../src/engine/scripts/lease.ts';
import { rootScript } from '../../../../src/node/root-script.ts';
import {
  type BaselineValue,
  baselineValues,
  recordBaselineLines,
} from '../../../../src/rack/uninstall/baseline-setting.ts';
import { until } from '../../../until.ts';
import { type MacRoot, makeMacRoot, ours } from './mac-root.ts';
import { removedAfter, startScript } from './node-root.ts';
import { exampleClaim } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newMac = removedAfter(makeMacRoot);

const wired: BaselineValue = { key: 'wired-limit', read: '"$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb' };
const power: BaselineValue = { key: 'power', read: `"$R/usr/bin/pmset" -g custom` };
const record = (root: MacRoot, values: readonly BaselineValue[]) =>
  root.run(rootScript(root.folder, recordBaselineLines(values)));
const setLimit = (root: MacRoot, megabytes: number) =>
  root.run(rootScript(root.folder, `"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=${megabytes}`));
const kept = (root: MacRoot): readonly string[] =>
  root.tree().flatMap((line) => /meshwright\/baseline\/(\S+) \d+ ?([\s\S]*)$/.exec(line)?.slice(1, 3).join('=') ?? []);

describe.each(scriptShells)('the baseline in $name', (shell) => {
  it('is recorded before the lease is taken, with unreadable values left empty', async () => {
    const root = newMac(shell);
    root.file('../wired', '4096\n');
    root.tool(
      'usr/bin/pmset',
      "[ \"$*\" = '-g custom' ] && printf 'AC Power:\\n autorestart 0\\n sleep 1\\n disksleep 10\\n womp 1\\n'",
    );
    await root.run(`/bin/rm -r '${root.folder.replaceAll("'", "'\\''")}/${ours}/lease'`);
    // The limit is read before the run has the lease.
    const taken = await root.run(takeLeaseScript(root.folder, exampleClaim('r-1')));
    expect(taken.stdout).toMatch(/^@taken 1 /);
    expect(root.read(`${ours}/baseline/wired-limit`)).toBe('4096\n');
    expect(root.read(`${ours}/baseline/power`)).toBe('sleep 1\nautorestart 0\n');
    expect(root.read(`${ours}/baseline/service-order`)).toBe('');
  });

  it('does not store agent states if launchd reports an unknown state', async () => {
    const root = newMac(shell);
    const photos = baselineValues.filter(({ key }) => key === 'photos-analysis');
    root.tool('bin/launchctl', `printf '\\t"com.apple.photoanalysisd" => %s\\n' "$(/bin/cat "$R/../word")"`);
    root.file('../word', 'disabled');
    await record(root, photos);
    expect(root.read(`${ours}/baseline/photos-analysis`)).toBe(
      'com.apple.mediaanalysisd on\ncom.apple.photoanalysisd off\n',
    );
    const other = newMac(shell);
    other.tool('bin/launchctl', `printf '\\t"com.apple.photoanalysisd" => maybe\\n'`);
    await record(other, photos);
    expect(other.read(`${ours}/baseline/photos-analysis`)).toBe('');
  });

  it('is never overwritten by a later run', async () => {
    const root = newMac(shell);
    root.file('../wired', '4096\n');
    await record(root, [wired]);
    await setLimit(root, 8_192);
    await record(root, [wired]);
    root.file(`${ours}/baseline/power`, '');
    root.tool('usr/bin/pmset', "printf 'sleep 0\\n'");
    await record(root, [wired, power]);
    expect(kept(root).filter((one) => !one.startsWith('.'))).toEqual(['power=', 'wired-limit=4096\n']);
  });

  it('gains the values that a later version adds, and then starts no more processes', async () => {
    const root = newMac(shell);
    root.file('../wired', '4096\n');
    root.tool('usr/bin/pmset', "printf 'sleep 1\\n'");
    await record(root, [wired]);
    await setLimit(root, 8_192);
    await record(root, [wired, power]);
    expect(kept(root).filter((one) => !one.startsWith('.'))).toEqual(['power=sleep 1\n', 'wired-limit=4096\n']);
    const before = root.started().length;
    await record(root, [wired, power]);
    expect(root.started()).toHaveLength(before);
  });

  it('is completed after a kill in the middle of a value', async () => {
    const root = newMac(shell);
    root.file('../wired', '4096\n');
    root.tool(
      'usr/bin/pmset',
      `printf 'sleep '; : >"$R/../half"; until [ -e "$R/../go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done`,
    );
    const { child, end } = startScript(shell, rootScript(root.folder, recordBaselineLines([wired, power])));
    await until(() => root.has('../half'));
    child.kill('SIGKILL');
    root.file('../go', '');
    await end;
    expect(kept(root).filter((one) => !one.includes('.'))).toEqual(['wired-limit=4096\n']);
    root.tool('usr/bin/pmset', "printf 'sleep 1\\n'");
    await record(root, [wired, power]);
    expect(kept(root).filter((one) => !one.startsWith('.'))).toEqual(['power=sleep 1\n', 'wired-limit=4096\n']);
  });
});
