import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJobPoll } from '../../../../src/engine/scripts/job.ts';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { Digest } from '../../../../src/model/digest.ts';
import type { JobCall, ScriptCall, TreeFile } from '../../../../src/model/node-script.ts';
import { place } from '../../../../src/node/paths/node-paths.ts';
import {
  jobFolder,
  listName,
  stagedArchive,
  stagedFile,
  stagedTree,
  stagingFolder,
  treeFolder,
  verifiedMark,
} from '../../../../src/node/paths/own-paths.ts';
import { until } from '../../../until.ts';
import { bootSession, changed, type MacRoot, run, unchanged } from './mac-root.ts';
import { isAlive, removedAfter } from './node-root.ts';
import { ended, isVerified, key, launch, makeJobRoot, poll, runJob, sha256 } from './run-job.ts';
import { exampleModel, exampleRuntime } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);

/** The number of the job's process. */
const pidOf = (root: MacRoot): number => Number(root.read(`${jobFolder(key).path}/pid`));

describe.concurrent.each(scriptShells)('a job in $name', (shell) => {
  const files: readonly TreeFile[] = [{ path: 'a', sha256: sha256('ab'), sizeBytes: 2 }];
  const call: JobCall = { name: 'verify-model', args: { tree: exampleModel, files } };
  const staged = (): MacRoot => {
    const root = newRoot(shell);
    root.file(stagedFile(exampleModel, 'a').path, 'ab');
    return root;
  };
  /** Creates a node on which every job that compares a file waits until `go` exists. */
  const held = (): MacRoot => {
    const root = staged();
    root.tool(
      'usr/bin/shasum',
      'until [ -e "$R/../go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done; exec /usr/bin/shasum "$@"',
    );
    return root;
  };

  it('keeps running after its launch script until it exits', async () => {
    const root = held();
    expect(await poll(root)).toEqual({ state: 'absent' });
    expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
    expect(await poll(root)).toEqual({ state: 'running', done: 0, total: 2 });
    root.file('../go', '');
    expect(await ended(root)).toEqual({ state: 'ended', exit: 0, done: 2, total: 2 });
    expect(isVerified(root, exampleModel)).toBe(true);
  });

  it('is not started again by a second launch', async () => {
    const root = held();
    await launch(root, call);
    const first = pidOf(root);
    expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: false, said: ['job=attached'] });
    expect(pidOf(root)).toBe(first);
    root.file('../go', '');
    await ended(root);
    expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: false, said: ['job=done'] });
  });

  it('has one process after parallel launches', async () => {
    const root = held();
    const results = await Promise.all(Array.from({ length: 8 }, () => launch(root, call)));
    expect(results.every(({ kind }) => kind === 'done' || kind === 'failed')).toBe(true);
    const sums = () => root.started().filter(({ tool }) => tool === 'usr/bin/shasum').length;
    await until(() => sums() > 0);
    root.file('../go', '');
    await ended(root);
    expect(sums()).toBe(1);
  });

  it('restarts if its process is gone or its PID was reused', async () => {
    const root = held();
    await launch(root, call);
    const first = pidOf(root);
    process.kill(first, 'SIGKILL');
    await until(() => !isAlive(first));
    expect(await poll(root)).toMatchObject({ state: 'gone' });
    root.file(`${jobFolder(key).path}/pid`, `${process.pid}\n`);
    expect(await poll(root)).toMatchObject({ state: 'gone' });
    root.file('../go', '');
    expect(await runJob(root, call)).toMatchObject({ state: 'ended', exit: 0 });
  });

  it('restarts if its published tree has changed, but not if it is intact', async () => {
    const root = staged();
    await runJob(root, call);
    await root.runBody(scriptBody({ name: 'publish-tree', args: { tree: exampleModel, jobs: [] } }));
    expect(await launch(root, call)).toMatchObject({ said: ['job=done'] });
    root.file(`${treeFolder(exampleModel).path}/more`, '');
    expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest', text: 'a' } });
  });

  it('is removed when its result is published, but not while running', async () => {
    const root = held();
    const publish: ScriptCall = { name: 'publish-tree', args: { tree: exampleModel, jobs: [key] } };
    await launch(root, call);
    root.file(verifiedMark(exampleModel).path, `${exampleModel.digest}\n`);
    expect(await run(root, publish)).toEqual(changed);
    expect(root.has(`${jobFolder(key).path}/job`)).toBe(true);
    root.file('../go', '');
    await ended(root);
    expect(await run(root, publish)).toEqual(unchanged);
    expect(root.has(jobFolder(key).path)).toBe(false);
  });

  it('keeps its folders during cleanup while it runs', async () => {
    const root = held();
    const other = 'model-tiny-0000000000000000';
    root.file(`${place.opt.path}/staging/${other}/tree/a`, 'ab');
    const mine = stagingFolder(exampleModel).path.replace(/.*\//, '');
    const clear: ScriptCall = { name: 'clear-staging', args: { folders: [mine, other], jobs: [key] } };
    await launch(root, call);
    expect(await run(root, clear)).toEqual(changed);
    expect([root.has(stagingFolder(exampleModel).path), root.has(jobFolder(key).path)]).toEqual([true, true]);
    expect(root.has(`${place.opt.path}/staging/${other}`)).toBe(false);
    expect(await run(root, clear)).toEqual(unchanged);
    root.file('../go', '');
    await ended(root);
    expect(await run(root, clear)).toEqual(changed);
    expect([root.has(stagingFolder(exampleModel).path), root.has(jobFolder(key).path)]).toEqual([false, false]);
    expect(await run(root, clear)).toEqual(unchanged);
  });

  it('leaves its name, tree and boot session, but no temporary files', async () => {
    const root = staged();
    await runJob(root, call);
    const tree = `model tiny ${exampleModel.digest.slice(0, 16)}`;
    expect(root.read(`${jobFolder(key).path}/job`)).toBe(`name=verify-model\ntree=${tree}\nboot=${bootSession}\n`);
    const kept = readdirSync(join(root.folder, jobFolder(key).path)).sort();
    expect(kept).toEqual(['err', 'job', 'out', 'pid', 'progress', 'rc', 'run', 'there']);
    expect(root.read(`${jobFolder(key).path}/err`)).toBe('');
  });
});

describe.concurrent.each(scriptShells)('verify-model in $name', (shell) => {
  const files: readonly TreeFile[] = [
    { path: 'a', sha256: sha256('ab'), sizeBytes: 2 },
    { path: "odd names/it's", sha256: sha256('cde'), sizeBytes: 3 },
    { path: 'empty', sha256: sha256(''), sizeBytes: 0 },
  ];
  const call: JobCall = { name: 'verify-model', args: { tree: exampleModel, files } };
  const good = (root: MacRoot): void => {
    root.file(stagedFile(exampleModel, 'a').path, 'ab');
    root.file(stagedFile(exampleModel, "odd names/it's").path, 'cde');
    root.file(stagedFile(exampleModel, 'empty').path, '');
  };

  it('succeeds if every file is right, and removes unlisted files', async () => {
    const root = newRoot(shell);
    good(root);
    root.file(stagedFile(exampleModel, 'a.part').path, 'x');
    symlinkSync('a', join(root.folder, stagedFile(exampleModel, 'link').path));
    expect(await runJob(root, call)).toEqual({ state: 'ended', exit: 0, done: 5, total: 5 });
    expect(readdirSync(join(root.folder, stagedTree(exampleModel).path)).sort()).toEqual([
      listName,
      'a',
      'empty',
      'odd names',
    ]);
    expect(root.calls()[0]).toBe(`chown -R root:wheel ${root.folder}${stagingFolder(exampleModel).path}`);
  });

  it('deletes only a wrong file, and succeeds after it is sent again', async () => {
    const spoilt = [
      (root: MacRoot) => root.file(stagedFile(exampleModel, 'a').path, 'ax'),
      (root: MacRoot) => root.file(stagedFile(exampleModel, 'a').path, 'a'),
    ];
    for (const spoil of spoilt) {
      const root = newRoot(shell);
      good(root);
      spoil(root);
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest', text: 'a' } });
      expect(isVerified(root, exampleModel)).toBe(false);
      expect(root.has(stagedFile(exampleModel, 'a').path)).toBe(false);
      expect(root.has(stagedFile(exampleModel, 'empty').path)).toBe(true);
      root.file(stagedFile(exampleModel, 'a').path, 'ab');
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    }
  });

  it('refuses a link in place of a file', async () => {
    const root = newRoot(shell);
    good(root);
    root.file('outside', 'ab');
    await root.run(`/bin/rm '${join(root.folder, stagedFile(exampleModel, 'a').path).replaceAll("'", "'\\''")}'`);
    symlinkSync(join(root.folder, 'outside'), join(root.folder, stagedFile(exampleModel, 'a').path));
    expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest' } });
    expect(root.read('outside')).toBe('ab');
  });
});

describe.concurrent.each(scriptShells)('unpack-runtime of an archive in $name', (shell) => {
  /** Creates an archive with this computer's tar. */
  const packed = (root: MacRoot, members: readonly string[], ...options: readonly string[]): Digest => {
    const folder = join(root.folder, '../pack');
    for (const member of ['bin/rank', 'lib/model.pl']) {
      mkdirSync(dirname(join(folder, member)), { recursive: true });
      writeFileSync(join(folder, member), `#!/bin/sh\n# ${member}\n`, { mode: 0o777 });
    }
    writeFileSync(join(folder, '../outside'), 'x');
    const made = spawnSync('tar', ['-czf', '-', ...options, '-C', folder, ...members]);
    expect([made.status, made.stderr.toString()]).toEqual([0, expect.anything()]);
    root.file(stagedArchive(exampleRuntime, 'tar.gz').path, '');
    writeFileSync(join(root.folder, stagedArchive(exampleRuntime, 'tar.gz').path), made.stdout);
    return sha256(made.stdout);
  };
  const unpack = (
    archive: Digest,
    more: { readonly programs?: readonly string[]; readonly binHas?: string } = {},
  ): JobCall => ({
    name: 'unpack-runtime',
    args: { tree: exampleRuntime, archive: 'tar.gz', sha256: archive, extras: [], ...more },
  });

  it('unpacks files that everyone can read and only root can write', async () => {
    const root = newRoot(shell);
    expect(await runJob(root, unpack(packed(root, ['bin', 'lib'])))).toMatchObject({ exit: 0 });
    expect(isVerified(root, exampleRuntime)).toBe(true);
    const rank = `${stagedTree(exampleRuntime).path}/bin/rank`.slice(1);
    expect(root.tree().filter((line) => line.startsWith(rank))).toEqual([`${rank} 100755 #!/bin/sh\n# bin/rank\n`]);
    const { result } = await root.runBody(
      scriptBody({ name: 'publish-tree', args: { tree: exampleRuntime, jobs: [] } }),
    );
    expect(result).toMatchObject({ isChanged: true });
  });

  it('refuses an archive that is missing, invalid or has a different digest', async () => {
    const root = newRoot(shell);
    packed(root, ['bin']);
    expect(await runJob(root, unpack(sha256('x')))).toMatchObject({ failure: { slug: 'wrong-digest' } });
    expect(await runJob(root, unpack(sha256('x')))).toMatchObject({ failure: { slug: 'no-archive' } });
    root.file(stagedArchive(exampleRuntime, 'tar.gz').path, 'no archive');
    expect(await runJob(root, unpack(sha256('no archive')))).toMatchObject({ failure: { slug: 'bad-archive' } });
    expect(isVerified(root, exampleRuntime)).toBe(false);
  });

  it('refuses an archive without the configured program', async () => {
    const root = newRoot(shell);
    const archive = packed(root, ['bin', 'lib']);
    expect(await runJob(root, unpack(archive, { programs: ['bin/rank', 'exo-1/exo'] }))).toMatchObject({
      exit: 1,
      failure: { slug: 'no-program', text: 'exo-1/exo is not a program of this version' },
    });
    expect(isVerified(root, exampleRuntime)).toBe(false);
    expect(await runJob(root, unpack(archive, { programs: ['bin/rank'] }))).toMatchObject({ exit: 0 });
  });

  it('links the only folder with a program as `bin` if `bin` is missing', async () => {
    const root = newRoot(shell);
    const release = { programs: ['bin/model.pl'], binHas: 'model.pl' };
    expect(await runJob(root, unpack(packed(root, ['lib']), release))).toMatchObject({ exit: 0 });
    expect(root.has(`${stagedTree(exampleRuntime).path}/bin/model.pl`)).toBe(true);
    const other = newRoot(shell);
    expect(await runJob(other, unpack(packed(other, ['bin', 'lib']), release))).toMatchObject({
      failure: { slug: 'no-program', text: 'bin/model.pl is not a program of this version' },
    });
  });

  it('refuses an archive with a member outside its folder', async () => {
    for (const members of [
      ['-P', '../outside', 'bin'],
      ['-P', 'bin/../../outside'],
      ['-P', '/etc/hostname'],
    ]) {
      const root = newRoot(shell);
      const archive = packed(root, members.slice(1), ...members.slice(0, 1));
      expect([members, await runJob(root, unpack(archive))]).toMatchObject([
        members,
        { exit: 1, failure: { slug: 'unsafe-archive' } },
      ]);
      expect(root.has(stagedTree(exampleRuntime).path)).toBe(false);
    }
  });

  /** Packs a folder after an sh command has added something to it. */
  const packedWith = (root: MacRoot, added: string): Digest => {
    packed(root, ['bin', 'lib']);
    const folder = join(root.folder, '../pack');
    const made = spawnSync('/bin/sh', ['-ec', `${added}; exec tar -czPf - *`], { cwd: folder });
    expect([made.status, made.stderr.toString()]).toEqual([0, '']);
    writeFileSync(join(root.folder, stagedArchive(exampleRuntime, 'tar.gz').path), made.stdout);
    return sha256(made.stdout);
  };

  it.each([
    ['a pipe', 'mkfifo bin/pipe', 'what is neither file, folder nor link: bin/pipe'],
    ['an absolute link', 'ln -s /etc/hosts bin/hosts', 'a link that leads out: bin/hosts'],
    ['a link out of the folder', 'ln -s ../.. bin/up', 'a link that leads out: bin/up'],
    [
      'a link out of the folder through another link',
      'ln -s .. bin/a; ln -s bin/a/../x up',
      'a link that leads out: up',
    ],
    ['a dangling link out of the folder', 'ln -s ../../../no/such bin/gone', 'a link that leads nowhere: bin/gone'],
  ])('refuses an archive with %s', async (_name, added, words) => {
    const root = newRoot(shell);
    const archive = packedWith(root, added);
    expect(await runJob(root, unpack(archive))).toMatchObject({
      failure: { slug: 'unsafe-archive', text: `it holds ${words}` },
    });
    expect(root.has(stagedTree(exampleRuntime).path)).toBe(false);
  });

  it('refuses an archive that writes a member through an earlier link', async () => {
    const root = newRoot(shell);
    packed(root, ['bin']);
    const added = [
      'mkdir -p elsewhere',
      'ln -s ../../elsewhere bin/out',
      'tar -cf ../two.tar bin/out',
      'rm bin/out',
      'mkdir bin/out',
      'true >bin/out/escaped',
      'tar -rf ../two.tar bin/out/escaped',
      'gzip -c ../two.tar',
    ].join(' && ');
    const made = spawnSync('/bin/sh', ['-c', added], { cwd: join(root.folder, '../pack') });
    expect([made.status, made.stderr.toString()]).toEqual([0, '']);
    writeFileSync(join(root.folder, stagedArchive(exampleRuntime, 'tar.gz').path), made.stdout);
    expect(await runJob(root, unpack(sha256(made.stdout)))).toMatchObject({
      failure: { slug: expect.stringMatching(/^(?:bad|unsafe)-archive$/) },
    });
    expect(root.tree().filter((line) => /^\S*\/escaped /.test(line))).toEqual([]);
  });

  it('refuses an archive with a hard link to an outside file', async () => {
    const root = newRoot(shell);
    const archive = packed(root, ['bin']);
    const outside = join(root.folder, '../outside');
    root.tool(
      'usr/bin/tar',
      `PATH=/usr/bin:/bin; case $1 in (-xf) /bin/tar "$@"; exec /bin/ln '${outside}' "$6/in" ;; esac; exec /bin/tar "$@"`,
    );
    expect(await runJob(root, unpack(archive))).toMatchObject({
      failure: { slug: 'unsafe-archive', text: expect.stringContaining('a file that lies outside, too') },
    });
    expect(readFileSync(outside, 'utf8')).toBe('x');
  });

  it('accepts links and hard links inside the archive', async () => {
    const root = newRoot(shell);
    const added = 'ln bin/rank lib/same; ln -s ../lib/model.pl bin/model; ln -s rank bin/next; ln -s no-such bin/gone';
    expect(await runJob(root, unpack(packedWith(root, added)))).toMatchObject({ exit: 0 });
  });
});

describe("a job's status", () => {
  it('is read only if complete and valid', () => {
    expect(parseJobPoll('state=running\nprogress=1 2\nend\n')).toEqual({ state: 'running', done: 1, total: 2 });
    for (const text of [
      '',
      'state=running\n',
      'state=dreaming\nend\n',
      'state=ended\nend\n',
      'state=ended\nrc=0\nend',
    ]) {
      expect([text, parseJobPoll(text)]).toEqual([text, undefined]);
    }
  });
});
