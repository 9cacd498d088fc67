import { chmodSync, readdirSync, readlinkSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import {
  accountHome,
  accountTemporary,
  mostLogBytes,
  olderRankLog,
  placementFolder,
  rankFilesFolder,
  rankLog,
  requestFile,
  serviceFile,
  startFile,
} from '../../../../src/node/paths/own-paths.ts';
import { fileSeal, putBody } from '../../../../src/node/put-file.ts';
import { until } from '../../../until.ts';
import { changed, type MacRoot, run, unchanged } from './mac-root.ts';
import {
  isAlive,
  isRunning,
  kick,
  kickAs,
  processesOf,
  rankRoots,
  record,
  recordOf,
  remove,
  stop,
  writes,
} from './rank-root.ts';
import { exampleRecord } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const { newRoot, started } = rankRoots();

/** The arguments that prepare a rank. @throws Error if the call is not a bootstrap */
function bootstrapArgs(): ScriptArgs['bootstrap-rank'] {
  const call = record();
  if (call.name !== 'bootstrap-rank') throw new Error('the call is not a bootstrap');
  return call.args;
}

/** The calls that set the owners of the rank's log and of the folders of the account `mesh`. */
const ownedBy = ({ folder }: MacRoot): readonly string[] => [
  `chown ${process.env['SUDO_USER'] ?? 'root'}:20 ${folder}${rankLog('kimi').path}`,
  ...[accountHome('mesh'), accountTemporary('mesh')].map(({ path }) => `chown mesh ${folder}${path}`),
];

describe.concurrent.each(scriptShells)('bootstrap-rank in $name', (shell) => {
  it('writes the record and the request without starting the rank', async () => {
    const root = newRoot(shell);
    expect(await run(root, record())).toEqual(changed);
    expect(recordOf(root)).toEqual([
      ...Object.entries(exampleRecord).map(([key, value]) => `${key}=${value}`),
      'startedIn=',
      'starts=0',
      '',
    ]);
    expect(root.read(requestFile('kimi').path)).toBe('{"prompt":"it\'s \\n"}');
    expect(writes(root)).toEqual([
      ...ownedBy(root),
      'launchctl enable system/dev.meshwright.rank.kimi',
      `launchctl bootstrap system ${root.folder}${serviceFile('kimi').path}`,
    ]);
    expect([await run(root, record()), processesOf(root)]).toEqual([unchanged, []]);
  });

  it('removes the files of earlier starts and creates the links', async () => {
    const root = newRoot(shell);
    const call = (more: object): ScriptCall => ({ name: 'bootstrap-rank', args: { ...bootstrapArgs(), ...more } });
    const folder = rankFilesFolder('kimi').path;
    root.file(`${folder}/matrix.json`, '[]');
    root.file(`${folder}/of an older start`, '');
    const to = nodePath('/opt/meshwright/models/tiny');
    await run(root, call({ files: ['matrix.json'], links: [{ name: 'models', to }] }));
    expect(readdirSync(join(root.folder, folder)).toSorted()).toEqual(['matrix.json', 'models']);
    expect(readlinkSync(join(root.folder, folder, 'models'))).toBe(`${root.folder}${to.path}`);
    await run(root, call({ record: { ...exampleRecord, generation: 4 } }));
    expect(root.has(folder)).toBe(false);
  });

  it("creates the rank's folders and empties those not marked as kept", async () => {
    const root = newRoot(shell);
    const folders = [
      { name: 'home', keeps: false },
      { name: 'cache', keeps: true },
    ];
    const call = (generation: number, user = 'mesh'): ScriptCall => ({
      name: 'bootstrap-rank',
      args: { ...bootstrapArgs(), record: { ...exampleRecord, generation }, folders, user },
    });
    const folder = rankFilesFolder('kimi').path;
    expect(await run(root, call(3))).toEqual(changed);
    for (const { name } of folders) root.file(`${folder}/${name}/of an older start`, '');
    expect(await run(root, call(4))).toEqual(changed);
    expect(readdirSync(join(root.folder, folder, 'home'))).toEqual([]);
    expect(readdirSync(join(root.folder, folder, 'cache'))).toEqual(['of an older start']);
    const owned = writes(root).filter((one) => one.startsWith(`chown mesh ${root.folder}${folder}/`));
    expect(owned).toHaveLength(4);
    expect(await run(root, call(5, process.env['SUDO_USER'] ?? 'root'))).toEqual(changed);
    expect(readdirSync(join(root.folder, folder, 'cache'))).toEqual([]);
  });

  it('gives an existing log to the sudo user when no account is named', async () => {
    const root = newRoot(shell);
    root.file(rankLog('kimi').path, 'printed as root\n');
    await run(root, record({}, ''));
    expect(root.read(rankLog('kimi').path)).toBe('printed as root\n');
    expect(writes(root)[0]).toBe(`chown ${process.env['SUDO_USER'] ?? 'root'} ${root.folder}${rankLog('kimi').path}`);
  });

  it('makes the log private, or group-writable if the rank runs as another account', async () => {
    const modeOf = (root: MacRoot, path: string): number => statSync(join(root.folder, path)).mode & 0o777;
    const own = newRoot(shell);
    const folders = [{ name: 'home', keeps: false }];
    await run(own, { name: 'bootstrap-rank', args: { ...bootstrapArgs(), user: '', folders } });
    expect(modeOf(own, rankLog('kimi').path)).toBe(0o600);
    expect(modeOf(own, `${rankFilesFolder('kimi').path}/home`)).toBe(0o700);
    const other = newRoot(shell);
    await run(other, record());
    expect(modeOf(other, rankLog('kimi').path)).toBe(0o660);
  });

  it('rotates an overlong log and keeps one older log', async () => {
    const root = newRoot(shell);
    const [log, older] = [rankLog('kimi').path, olderRankLog('kimi').path];
    const sizeOf = (path: string): number => statSync(join(root.folder, path)).size;
    const fill = (word: string, bytes: number): void => {
      root.file(log, word);
      truncateSync(join(root.folder, log), bytes);
    };
    fill('first', mostLogBytes);
    await run(root, record({}, ''));
    expect([sizeOf(log), root.has(older)]).toEqual([mostLogBytes, false]);
    for (const [at, word] of ['second', 'third'].entries()) {
      fill(word, mostLogBytes + 1);
      expect(await run(root, record({ generation: 4 + at }, ''))).toEqual(changed);
      expect([sizeOf(log), root.read(older).slice(0, word.length)]).toEqual([0, word]);
      expect(statSync(join(root.folder, log)).mode & 0o777).toBe(0o600);
    }
    await run(root, kick(5));
    expect(root.read(startFile('kimi').path)).toMatch(/^log=0$/m);
    fill('of a rank that runs', mostLogBytes + 1);
    expect(await run(root, record({ generation: 5 }, ''))).toEqual(unchanged);
    expect(sizeOf(log)).toBe(mostLogBytes + 1);
    await run(root, stop());
    await run(root, remove);
    expect([root.has(log), root.has(older)]).toEqual([false, false]);
  });
});

describe.concurrent.each(scriptShells)('kick-rank in $name', (shell) => {
  it.each([
    ['groups', 'staff admin\n', 'mesh is an administrator of this Mac'],
    [
      'rules',
      'User mesh may run the following commands on mac:\n    (ALL) ALL\n',
      'sudo -l -U mesh: User mesh may run the following commands on mac: (ALL) ALL',
    ],
    ['rules', 'sudo: a password is required\n', 'sudo -l -U mesh: sudo: a password is required'],
  ])('refuses an account that can become root: %s', async (file, text, why) => {
    const root = newRoot(shell);
    root.file(`../s/${file}`, text);
    await run(root, record());
    const ended = await run(root, kickAs('mesh'));
    expect(ended).toMatchObject({ kind: 'failed', slug: 'can-become-root' });
    expect(ended.kind === 'failed' && ended.text).toContain(why);
    expect([processesOf(root), recordOf(root).at(-2)]).toEqual([[], 'starts=0']);
    expect(await run(root, kickAs(''))).toEqual(changed);
    await run(root, stop());
  });

  it('refuses an account that can write root daemon files or cannot be checked', async () => {
    const root = newRoot(shell);
    await run(root, record());
    root.file('Library/LaunchDaemons/org.fan.plist', '');
    chmodSync(join(root.folder, 'Library/LaunchDaemons/org.fan.plist'), 0o666);
    const ended = await run(root, kickAs('mesh'));
    expect(ended).toMatchObject({ kind: 'failed', slug: 'can-become-root' });
    expect(ended.kind === 'failed' && ended.text).toMatch(
      /mesh may write what launchd runs as root: .*org\.fan\.plist$/,
    );
    root.tool('usr/bin/find', "printf 'find: /Library: Operation not permitted\\n' >&2; exit 1");
    expect(await run(root, kickAs('mesh'))).toMatchObject({
      slug: 'daemons-unread',
      text: 'cannot read what launchd runs as root: find: /Library: Operation not permitted',
    });
  });

  it('reads the root daemon files again if one disappeared meanwhile', async () => {
    const root = newRoot(shell);
    await run(root, record());
    const acl = 'for o; do shift; [ "$o" = -acl ] && set -- "$@" -false || set -- "$@" "$o"; done';
    const once = '[ -e "$R/../gone" ] || { : >"$R/../gone"; exit 1; }';
    root.tool('usr/bin/find', `${once}; ${acl}; exec /usr/bin/find "$@"`);
    expect(await run(root, kickAs('mesh'))).toEqual(changed);
    await run(root, stop());
  });

  it('waits while launchd delays the start', async () => {
    const root = newRoot(shell);
    root.tool('bin/sleep', 'exit 0');
    await run(root, record());
    root.file('../launchd/scheduled', '');
    expect(await run(root, kick())).toEqual(changed);
    await isRunning(root);
    root.tool('bin/sleep', 'exec /bin/sleep "$@"');
    await run(root, stop());
  });
});

describe.concurrent.each(scriptShells)('stop-rank in $name', (shell) => {
  it('stops a rank that obeys SIGTERM and unloads its service', async () => {
    const root = await started(shell, 'obeys');
    expect(await run(root, stop(5_000))).toEqual({ kind: 'done', isChanged: true, said: ['ended=clean'] });
    expect(processesOf(root).filter(isAlive)).toEqual([]);
    expect(writes(root).slice(-2)).toEqual([
      'launchctl kill SIGTERM system/dev.meshwright.rank.kimi',
      'launchctl bootout system/dev.meshwright.rank.kimi',
    ]);
    expect(await run(root, stop())).toEqual(unchanged);
  });

  it('kills a rank and its child processes after the grace period', async () => {
    for (const program of ['ignores', 'leaves a child'] as const) {
      const root = await started(shell, program);
      await until(() => processesOf(root).length === (program === 'ignores' ? 1 : 2));
      expect([program, await run(root, stop())]).toEqual([
        program,
        { kind: 'done', isChanged: true, said: ['sample=sample-kimi-3.txt', 'ended=killed'] },
      ]);
      expect(processesOf(root).filter(isAlive)).toEqual([]);
    }
  });

  it('finds a rank unknown to launchd by its PID and start time', async () => {
    const root = await started(shell, 'ignores');
    rmSync(join(root.folder, '../launchd/loaded'));
    expect(await run(root, stop())).toMatchObject({ said: ['sample=sample-kimi-3.txt', 'ended=killed'] });
    expect(processesOf(root).filter(isAlive)).toEqual([]);
  });

  it('reports that a reboot is needed when SIGKILL does not stop the rank', async () => {
    const root = await started(shell, 'obeys');
    root.tool('bin/sleep', 'exit 0');
    root.tool('bin/ps', 'printf "%s 1 %s U\\n" "$(/bin/cat "$R/../launchd/pid")" "$(/bin/cat "$R/../launchd/pid")"');
    const { result } = await root.runBody(scriptBody(stop(0)));
    expect(result).toMatchObject({ kind: 'failed', slug: 'reboot-mark' });
    expect(root.has('../launchd/loaded')).toBe(true);
  });
});

describe.concurrent.each(scriptShells)('remove-rank in $name', (shell) => {
  it('removes every trace of a stopped rank but refuses a running one', async () => {
    const root = await started(shell, 'obeys');
    const path = nodePath(serviceFile('kimi').path as '/x');
    await root.runBody(putBody({ path, mode: 0o644, content: ['<plist/>\n'], rootPrefix: root.folder, login: 'mesh' }));
    root.file(rankLog('kimi').path, 'hello\n');
    expect(await run(root, remove)).toMatchObject({ kind: 'failed', slug: 'still-running' });
    await run(root, stop());
    expect(await run(root, remove)).toEqual(changed);
    for (const gone of [serviceFile('kimi'), fileSeal(path), rankLog('kimi'), placementFolder('kimi')]) {
      expect([gone.path, root.has(gone.path)]).toEqual([gone.path, false]);
    }
    expect(await run(root, remove)).toEqual(unchanged);
  });
});
