import { symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchSource, JobArgs, JobCall, TreeFile } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { stagedFile, stagingFolder } from '../../../../src/node/paths/own-paths.ts';
import { rulesTool } from './directory-tool.ts';
import type { MacRoot } from './mac-root.ts';
import { hostTool, removedAfter } from './node-root.ts';
import { isVerified, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const jobRoot = removedAfter(makeJobRoot);
/** Creates a node with short pauses between attempts. */
const newRoot = (shell: Shell): MacRoot => {
  const root = jobRoot(shell);
  root.tool('bin/sleep', 'exec /bin/sleep 0.05');
  return root;
};

/** The server's behavior in one test, and the requests received, each with the first byte of the answer. */
interface Shelf {
  readonly answer: 'whole' | 'silent-after-a-part' | 'spoilt' | 'broken-off' | 'without-ranges' | 'missing' | 'sent-on';
  readonly asked: string[];
}

describe('fetch-model', () => {
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
  /** The key is the first folder in the URL. */
  const shelves = new Map<string, Shelf>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      const [, folder = '', path = ''] = /^\/(\d+)(.*)$/.exec((request.url ?? '').replaceAll("'", '%27')) ?? [];
      const { answer, asked } = shelves.get(folder) ?? { answer: 'missing', asked: [] };
      const body = contents[path];
      const from =
        answer === 'without-ranges' ? 0 : Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      asked.push(`${path} ${from}`);
      if (answer === 'sent-on') {
        response.writeHead(302, { location: `ftp://127.0.0.1${path}` }).end();
        return;
      }
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
      if (answer === 'silent-after-a-part' && rest.length > 2_000_000) response.write(sent.subarray(0, 1_000_000));
      else if (answer === 'broken-off' && rest.length > 1_000_000) {
        response.write(sent.subarray(0, 1_000_000), () => response.destroy());
      } else response.end(sent);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** Creates a node, the files that it fetches from a separate shelf, and the record of its requests. */
  const start = (shell: Shell, answer: Shelf['answer']) => {
    const folder = String(shelves.size);
    const asked: string[] = [];
    shelves.set(folder, { answer, asked });
    const source = { kind: 'url', base: `${base}/${folder}/tiny/`, plainHttp: true } as const;
    const call: JobCall = { name: 'fetch-model', args: { tree: exampleModel, files, source } };
    return { root: newRoot(shell), call, asked };
  };

  describe.concurrent.each(scriptShells)('in $name', (shell) => {
    it('fetches every file, including names that a URL must encode', async () => {
      const { root, call, asked } = start(shell, 'whole');
      expect(await runJob(root, call)).toMatchObject({
        state: 'ended',
        exit: 0,
        done: big.length + 2,
        total: big.length + 2,
      });
      expect(root.read(bigFile.path)).toBe(big.toString());
      expect(isVerified(root, exampleModel)).toBe(true);
      expect(asked).toEqual(['/tiny/config.json 0', '/tiny/odd%20names/it%27s%20%23%3F.bin 0']);
    });

    it('resumes an interrupted transfer in the same job and in the next one', async () => {
      const { root, call, asked } = start(shell, 'broken-off');
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
      expect(asked.slice(1)).toEqual(
        [0, 1_000_000, 2_000_000].map((from) => `/tiny/odd%20names/it%27s%20%23%3F.bin ${from}`),
      );
      const again = start(shell, 'whole');
      again.root.file(`${bigFile.path}.part`, big.subarray(0, 12_345).toString());
      expect(await runJob(again.root, again.call)).toMatchObject({ exit: 0 });
      expect(again.asked).toContain('/tiny/odd%20names/it%27s%20%23%3F.bin 12345');
    });

    it('stops when its hours end, waits, and continues when they begin again', async () => {
      const { root, call, asked } = start(shell, 'silent-after-a-part');
      const { args } = call as Extract<JobCall, { name: 'fetch-model' }>;
      const source = { ...args.source, hours: { begin: '22:00', end: '06:00' } } as FetchSource;
      // The clock goes on with each look at it.
      root.file('../clock', '215930\n220000\n055958\n060000\n060001\n100000\n220000\n');
      root.tool(
        'bin/date',
        '[ "$*" = +%H%M%S ] || exec /bin/date "$@"; f=$R/../clock; IFS= read -r x <"$f"; tail -n +2 "$f" >"$f.new"; [ ! -s "$f.new" ] || mv "$f.new" "$f"; echo "$x"',
      );
      root.recorded('usr/bin/curl', `exec ${hostTool('usr/bin/curl')} "$@"`);
      root.tool(
        'bin/sleep',
        'cat "$R"/Library/*/meshwright/ops/*/until >>"$R/../waits" 2>/dev/null; exec /bin/sleep 0.02',
      );
      expect(await runJob(root, { ...call, args: { ...args, source } } as JobCall)).toMatchObject({ exit: 0 });
      expect(root.read(bigFile.path)).toBe(big.toString());
      expect(asked.slice(1)).toEqual([0, 1_000_000].map((from) => `/tiny/odd%20names/it%27s%20%23%3F.bin ${from}`));
      expect(root.calls().flatMap((line) => / -m (\d+)/.exec(line)?.[1] ?? [])).toEqual(['3600', '2', '3600']);
      expect(root.read('../waits').split('\n').filter(Boolean)).toEqual(['22:00', '22:00', '22:00']);
    });

    it('does not reverify files that were verified before an interruption', async () => {
      const { root, call, asked } = start(shell, 'missing');
      root.file(stagedFile(exampleModel, 'config.json').path, '{}');
      root.file(`${stagingFolder(exampleModel).path}/checked/${sha256('{}')}`, 'flushed\n');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'fetch-refused' } });
      expect(asked).toEqual(['/tiny/odd%20names/it%27s%20%23%3F.bin 0']);
      const sums = root.started().filter(({ tool }) => tool === 'usr/bin/shasum');
      expect(sums).toEqual([]);
    });

    it('starts over if the server does not support ranges', async () => {
      const { root, call } = start(shell, 'without-ranges');
      root.file(`${bigFile.path}.part`, 'x'.repeat(12_345));
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    });

    it('fails after fetching a wrong file twice and leaves no partial file', async () => {
      const { root, call, asked } = start(shell, 'spoilt');
      expect(await runJob(root, call)).toMatchObject({
        exit: 1,
        failure: { slug: 'wrong-digest', text: 'config.json' },
      });
      expect(asked).toEqual(['/tiny/config.json 0', '/tiny/config.json 0']);
      expect([
        isVerified(root, exampleModel),
        root.tree().filter((line) => line.split(' ')[0]?.includes('.part')),
      ]).toEqual([false, []]);
    });

    it('downloads a file from scratch if the earlier partial download was wrong', async () => {
      const { root, call, asked } = start(shell, 'whole');
      root.file(`${bigFile.path}.part`, 'x'.repeat(12_345));
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
      expect(asked.slice(1)).toEqual([12_345, 0].map((from) => `/tiny/odd%20names/it%27s%20%23%3F.bin ${from}`));
    });

    it('does not start on a disk without enough space', async () => {
      const { root, call, asked } = start(shell, 'whole');
      root.file('../free', '2900');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'disk-full' } });
      expect(asked).toEqual([]);
      root.file(`${bigFile.path}.part`, big.subarray(0, 1_000_000).toString());
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    });

    it('refuses plain HTTP unless allowed, and redirects to other protocols', async () => {
      const { root, call, asked } = start(shell, 'whole');
      const { source, ...args } = call.args as JobArgs['fetch-model'];
      if (source.kind !== 'url') throw new Error('the source is not a URL');
      const refused = { ...call, args: { ...args, source: { kind: 'url', base: source.base } } } as JobCall;
      const failure = { slug: 'fetch-failed', text: expect.stringMatching(/^curl: \(1\) /) };
      expect(await runJob(root, refused)).toMatchObject({ exit: 1, failure });
      expect(asked).toEqual([]);
      const sentOn = start(shell, 'sent-on');
      expect(await runJob(sentOn.root, sentOn.call)).toMatchObject({ exit: 1, failure });
      root.tool('usr/bin/curl', 'printf "%s" "$*" >&2; exit 3');
      const https = { ...call, args: { ...args, source: { kind: 'url', base: 'https://models.lan/' } } } as JobCall;
      expect(await runJob(root, https)).toMatchObject({
        failure: { text: expect.stringContaining('-L --proto =https --proto-redir =https ') },
      });
    });

    it('downloads as an account that cannot become root', async () => {
      const { root, call, asked } = start(shell, 'broken-off');
      root.recorded('usr/bin/sudo', `if [ "$1" = -l ]; then ${rulesTool('$R/../s')}; else shift 4; exec "$@"; fi`);
      const { source, ...args } = call.args as JobArgs['fetch-model'];
      const asMesh = { ...call, args: { ...args, source: { ...source, account: 'mesh' } } } as JobCall;
      expect(await runJob(root, asMesh)).toMatchObject({ exit: 0 });
      expect(asked).toHaveLength(4);
      const curls = root.started().filter(({ tool }) => tool === 'usr/bin/curl');
      const allowed = root.calls().filter((one) => one.startsWith('sudo -n -H -u mesh '));
      expect([curls.length, allowed.length]).toEqual([4, 4]);
      const other = start(shell, 'whole');
      other.root.file('../s/groups', 'staff admin\n');
      expect(await runJob(other.root, asMesh)).toMatchObject({ failure: { slug: 'can-become-root' } });
    });

    it('reports a full disk when the bytes cannot be stored', async () => {
      const { root, call } = start(shell, 'whole');
      root.tool('usr/bin/head', 'printf "head: stdout: No space left on device\\n" >&2; exit 1');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'disk-full' } });
      expect(isVerified(root, exampleModel)).toBe(false);
    });

    it('copies from a folder on the node, following links', async () => {
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
