import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Digest, digest } from '../../../src/model/digest.ts';
import type { JobCall, TreeFile, TreeId } from '../../../src/model/node-script.ts';
import { jobFolder, launchBody } from '../../../src/script/launch-job.ts';
import { nodePath } from '../../../src/script/node-paths.ts';
import { scriptBody } from '../../../src/script/node-scripts/registry.ts';
import { type JobPoll, parseJobPoll, pollJobCommand } from '../../../src/script/poll-job.ts';
import {
  stagedArchive,
  stagedFile,
  stagedTree,
  stagingFolder,
  treeFolder,
  verifiedMark,
} from '../../../src/script/tree-paths.ts';
import { bootSession, type MacRoot, makeMacRoot } from './mac-root.ts';
import { isAlive, until } from './node-root.ts';
import { exampleModel, exampleRuntime } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const roots: MacRoot[] = [];
const newRoot = (shell: Shell): MacRoot => {
  const root = makeMacRoot(shell);
  root.tool(
    'bin/df',
    'printf \'Filesystem 1024-blocks Used Available\\n/dev/disk3s5 9 9 %s\\n\' "$(/bin/cat "$R/../free" 2>/dev/null || printf 999999)"',
  );
  root.tool('bin/ps', 'exec /bin/ps "$@"');
  roots.push(root);
  return root;
};
afterAll(() => {
  for (const root of roots) root.remove();
});

const sha256 = (bytes: string | Uint8Array): Digest => digest(createHash('sha256').update(bytes).digest('hex'));
const key = sha256('a key');
const launch = async (root: MacRoot, call: JobCall) => (await root.runBody(launchBody({ key, call }))).result;

async function poll(root: MacRoot): Promise<JobPoll> {
  const { stdout } = await root.run(pollJobCommand(key, root.folder));
  const answer = parseJobPoll(stdout);
  if (answer === undefined) throw new Error(`no answer: ${stdout}`);
  return answer;
}

async function ended(root: MacRoot): Promise<JobPoll> {
  for (let tries = 0; tries < 400; tries += 1) {
    const answer = await poll(root);
    if (answer.state !== 'running') return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job never ended');
}

async function runJob(root: MacRoot, call: JobCall): Promise<JobPoll> {
  expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: true, said: ['job=started'] });
  return ended(root);
}

/** Number of the process of the job. */
const pidOf = (root: MacRoot): number => Number(root.read(`${jobFolder(key).path}/pid`));
const isVerified = (root: MacRoot, tree: TreeId): boolean => root.has(verifiedMark(tree).path);

describe.each(scriptShells)('a job under $name', (shell) => {
  const files: readonly TreeFile[] = [{ path: 'a', sha256: sha256('ab'), sizeBytes: 2 }];
  const call: JobCall = { name: 'verify-model', args: { tree: exampleModel, files } };
  const staged = (): MacRoot => {
    const root = newRoot(shell);
    root.file(stagedFile(exampleModel, 'a').path, 'ab');
    return root;
  };
  /** Holds every job that compares a file until `go` is there. */
  const held = (): MacRoot => {
    const root = staged();
    root.tool('usr/bin/shasum', 'until [ -e "$R/../go" ]; do /bin/sleep 0.02; done; exec /usr/bin/shasum "$@"');
    return root;
  };

  it('is absent, then runs beyond the script that launched it, then has ended', async () => {
    const root = held();
    expect(await poll(root)).toEqual({ state: 'absent' });
    expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
    expect(await poll(root)).toEqual({ state: 'running', done: 0, total: 2 });
    root.file('../go', '');
    expect(await ended(root)).toEqual({ state: 'ended', exit: 0, done: 2, total: 2 });
    expect(isVerified(root, exampleModel)).toBe(true);
  });

  it('is found by whoever launches it again, and not started twice', async () => {
    const root = held();
    await launch(root, call);
    const first = pidOf(root);
    expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: false, said: ['job=attached'] });
    expect(pidOf(root)).toBe(first);
    root.file('../go', '');
    await ended(root);
    expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: false, said: ['job=done'] });
  });

  it('has one process even when many launch it at once', async () => {
    const root = held();
    const results = await Promise.all(Array.from({ length: 8 }, () => launch(root, call)));
    expect(results.every(({ kind }) => kind === 'done' || kind === 'failed')).toBe(true);
    const sums = () => root.started().filter(({ tool }) => tool === 'usr/bin/shasum').length;
    await until(() => sums() > 0);
    root.file('../go', '');
    await ended(root);
    expect(sums()).toBe(1);
  });

  it('begins again when its process is gone, and when somebody else has its number', async () => {
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

  it('begins again after what it made was taken away, and does not where it was published', async () => {
    const root = staged();
    await runJob(root, call);
    await root.runBody(scriptBody({ name: 'publish-tree', args: { tree: exampleModel } }));
    expect(await launch(root, call)).toMatchObject({ said: ['job=done'] });
    root.file(`${treeFolder(exampleModel).path}/more`, '');
    expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest', text: 'a' } });
  });

  it('leaves its boot session and its name, and nothing that only it needed', async () => {
    const root = staged();
    await runJob(root, call);
    expect(root.read(`${jobFolder(key).path}/job`)).toBe(`name=verify-model\ntree=model tiny\nboot=${bootSession}\n`);
    const kept = readdirSync(join(root.folder, jobFolder(key).path)).sort();
    expect(kept).toEqual(['err', 'job', 'out', 'pid', 'progress', 'rc', 'run', 'there']);
    expect(root.read(`${jobFolder(key).path}/err`)).toBe('');
  });
});

describe.each(scriptShells)('the comparison of what was sent under $name', (shell) => {
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

  it('ends well only when every file is right, and takes away what is not in the list', async () => {
    const root = newRoot(shell);
    good(root);
    root.file(stagedFile(exampleModel, 'a.part').path, 'x');
    symlinkSync('a', join(root.folder, stagedFile(exampleModel, 'link').path));
    expect(await runJob(root, call)).toEqual({ state: 'ended', exit: 0, done: 5, total: 5 });
    expect(readdirSync(join(root.folder, stagedTree(exampleModel).path)).sort()).toEqual(['a', 'empty', 'odd names']);
    expect(root.calls()[0]).toBe(`chown -R root:wheel ${root.folder}${stagingFolder(exampleModel).path}`);
  });

  it('deletes a wrong file, keeps the others, and goes on from there', async () => {
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

  it('does not take a link for a file, wherever it leads', async () => {
    const root = newRoot(shell);
    good(root);
    root.file('outside', 'ab');
    await root.run(`/bin/rm '${join(root.folder, stagedFile(exampleModel, 'a').path).replaceAll("'", "'\\''")}'`);
    symlinkSync(join(root.folder, 'outside'), join(root.folder, stagedFile(exampleModel, 'a').path));
    expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest' } });
    expect(root.read('outside')).toBe('ab');
  });
});

describe.each(scriptShells)('the archive of a runtime under $name', (shell) => {
  /** An archive of this computer's own tar. */
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
  const unpack = (archive: Digest): JobCall => ({
    name: 'unpack-runtime',
    args: { tree: exampleRuntime, archive: 'tar.gz', sha256: archive },
  });

  it('is unpacked as it was packed, for everybody to read and for root to write', async () => {
    const root = newRoot(shell);
    expect(await runJob(root, unpack(packed(root, ['bin', 'lib'])))).toMatchObject({ exit: 0 });
    expect(isVerified(root, exampleRuntime)).toBe(true);
    const rank = `${stagedTree(exampleRuntime).path}/bin/rank`.slice(1);
    expect(root.tree().filter((line) => line.startsWith(rank))).toEqual([`${rank} 100755 #!/bin/sh\n# bin/rank\n`]);
    const { result } = await root.runBody(scriptBody({ name: 'publish-tree', args: { tree: exampleRuntime } }));
    expect(result).toMatchObject({ isChanged: true });
  });

  it('is not unpacked when its sha256 is another one, when it is none, or when it is not there', async () => {
    const root = newRoot(shell);
    packed(root, ['bin']);
    expect(await runJob(root, unpack(sha256('x')))).toMatchObject({ failure: { slug: 'wrong-digest' } });
    expect(await runJob(root, unpack(sha256('x')))).toMatchObject({ failure: { slug: 'no-archive' } });
    root.file(stagedArchive(exampleRuntime, 'tar.gz').path, 'no archive');
    expect(await runJob(root, unpack(sha256('no archive')))).toMatchObject({ failure: { slug: 'bad-archive' } });
    expect(isVerified(root, exampleRuntime)).toBe(false);
  });

  it('is refused whole when a member would land outside', async () => {
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
});

describe('a model that the node fetches', () => {
  const big = Buffer.alloc(3_000_000, 'meshwright ');
  const contents: Readonly<Record<string, Buffer>> = {
    '/tiny/config.json': Buffer.from('{}'),
    '/tiny/odd%20names/it%27s%20%23%3F.bin': big,
  };
  const files: readonly TreeFile[] = [
    { path: 'config.json', sha256: sha256('{}'), sizeBytes: 2 },
    { path: "odd names/it's #?.bin", sha256: sha256(big), sizeBytes: big.length },
  ];
  const bigFile = stagedFile(exampleModel, files[1]?.path ?? '');
  let server: Server;
  let base = '';
  /** What was asked, with the first byte of each answer; how the next answers are made. */
  let asked: string[] = [];
  let answer: 'whole' | 'spoilt' | 'broken-off' | 'without-ranges' | 'missing' = 'whole';

  beforeAll(async () => {
    server = createServer((request, response) => {
      const url = (request.url ?? '').replaceAll("'", '%27');
      const body = contents[url];
      const from =
        answer === 'without-ranges' ? 0 : Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      asked.push(`${url} ${from}`);
      if (body === undefined || answer === 'missing') {
        response.writeHead(404).end('not here');
        return;
      }
      const rest = body.subarray(from);
      const sent = answer === 'spoilt' ? Buffer.alloc(rest.length) : rest;
      response.writeHead(from > 0 ? 206 : 200, {
        'content-length': rest.length,
        ...(from > 0 ? { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` } : {}),
      });
      if (answer === 'broken-off' && rest.length > 1_000_000) {
        response.write(sent.subarray(0, 1_000_000), () => response.destroy());
      } else response.end(sent);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny/`;
  });
  afterAll(() => server.close());

  const fetch = (): JobCall => ({
    name: 'fetch-model',
    args: { tree: exampleModel, files, source: { kind: 'url', base } },
  });
  const start = (shell: Shell, how: typeof answer): MacRoot => {
    asked = [];
    answer = how;
    return newRoot(shell);
  };

  describe.each(scriptShells)('under $name', (shell) => {
    it('is there whole, with names that a URL has to spell otherwise', async () => {
      const root = start(shell, 'whole');
      expect(await runJob(root, fetch())).toEqual({
        state: 'ended',
        exit: 0,
        done: big.length + 2,
        total: big.length + 2,
      });
      expect(root.read(bigFile.path)).toBe(big.toString());
      expect(isVerified(root, exampleModel)).toBe(true);
      expect(asked).toEqual(['/tiny/config.json 0', '/tiny/odd%20names/it%27s%20%23%3F.bin 0']);
    });

    it('goes on where a transfer broke off, in the same job and in the next one', async () => {
      const root = start(shell, 'broken-off');
      expect(await runJob(root, fetch())).toMatchObject({ exit: 0 });
      expect(asked.slice(1)).toEqual(
        [0, 1_000_000, 2_000_000].map((from) => `/tiny/odd%20names/it%27s%20%23%3F.bin ${from}`),
      );
      const again = start(shell, 'whole');
      again.file(`${bigFile.path}.part`, big.subarray(0, 12_345).toString());
      expect(await runJob(again, fetch())).toMatchObject({ exit: 0 });
      expect(asked).toContain('/tiny/odd%20names/it%27s%20%23%3F.bin 12345');
    });

    it('does not compare again what was compared before an interruption', async () => {
      const root = start(shell, 'missing');
      root.file(stagedFile(exampleModel, 'config.json').path, '{}');
      root.file(`${stagingFolder(exampleModel).path}/checked/${sha256('{}')}`, '');
      expect(await runJob(root, fetch())).toMatchObject({ exit: 1, failure: { slug: 'fetch-failed' } });
      expect(new Set(asked)).toEqual(new Set(['/tiny/odd%20names/it%27s%20%23%3F.bin 0']));
      const sums = root.started().filter(({ tool }) => tool === 'usr/bin/shasum');
      expect(sums).toEqual([]);
    });

    it('begins anew where the server cannot go on', async () => {
      const root = start(shell, 'without-ranges');
      root.file(`${bigFile.path}.part`, 'x'.repeat(12_345));
      expect(await runJob(root, fetch())).toMatchObject({ exit: 0 });
    });

    it('is fetched twice when it is wrong, and then given up with nothing left of it', async () => {
      const root = start(shell, 'spoilt');
      expect(await runJob(root, fetch())).toMatchObject({
        exit: 1,
        failure: { slug: 'wrong-digest', text: 'config.json' },
      });
      expect(asked).toEqual(['/tiny/config.json 0', '/tiny/config.json 0']);
      expect([
        isVerified(root, exampleModel),
        root.tree().filter((line) => line.split(' ')[0]?.includes('.part')),
      ]).toEqual([false, []]);
    });

    it('is fetched anew when a part from before turns out to be wrong', async () => {
      const root = start(shell, 'whole');
      root.file(`${bigFile.path}.part`, 'x'.repeat(12_345));
      expect(await runJob(root, fetch())).toMatchObject({ exit: 0 });
      expect(asked.slice(1)).toEqual([12_345, 0].map((from) => `/tiny/odd%20names/it%27s%20%23%3F.bin ${from}`));
    });

    it('is not begun on a disk without room for it', async () => {
      const root = start(shell, 'whole');
      root.file('../free', '2900');
      expect(await runJob(root, fetch())).toMatchObject({ exit: 1, failure: { slug: 'disk-full' } });
      expect(asked).toEqual([]);
      root.file(`${bigFile.path}.part`, big.subarray(0, 1_000_000).toString());
      expect(await runJob(root, fetch())).toMatchObject({ exit: 0 });
    });

    it('ends as a full disk when curl can write no more', async () => {
      const root = start(shell, 'whole');
      root.tool('usr/bin/curl', 'printf "curl: (23) client returned ERROR on write\\n" >&2; exit 23');
      expect(await runJob(root, fetch())).toMatchObject({ exit: 1, failure: { slug: 'disk-full' } });
      expect(isVerified(root, exampleModel)).toBe(false);
    });

    it('is taken from a folder of the node, links and all, and goes on with a part', async () => {
      const root = newRoot(shell);
      root.file("Volumes/ana's disk/config.json", '{}');
      root.file("Volumes/ana's disk/blob", big.toString());
      root.file("Volumes/ana's disk/odd names/other", '');
      symlinkSync('../blob', join(root.folder, "Volumes/ana's disk/odd names/it's #?.bin"));
      const source = { kind: 'folder', folder: nodePath("/Volumes/ana's disk") } as const;
      const call: JobCall = { name: 'fetch-model', args: { tree: exampleModel, files, source } };
      root.file(`${stagedFile(exampleModel, 'config.json').path}.part`, '{');
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
      expect(root.read(bigFile.path)).toBe(big.toString());
      const empty = newRoot(shell);
      expect(await runJob(empty, call)).toMatchObject({ failure: { slug: 'no-source' } });
    });
  });
});
