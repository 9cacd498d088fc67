import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { stagedArchive } from '../../../../src/node/paths/own-paths.ts';
import { removedAfter } from './node-root.ts';
import { makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleRuntime } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const jobRoot = removedAfter(makeJobRoot);
const bytes = Buffer.alloc(3_000_000, 'an archive ');
const target = stagedArchive(exampleRuntime, 'tar.gz').path;

describe('fetch-archive', () => {
  let server: Server;
  let url = '';
  const asked: string[] = [];
  beforeAll(async () => {
    server = createServer(({ url: path = '', headers }, response) => {
      const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
      asked.push(`${path} ${from}`);
      if (path.endsWith('/missing')) {
        response.writeHead(404).end();
        return;
      }
      if (path.endsWith('/limited')) {
        response.writeHead(429, { ratelimit: '"resolvers";r=0;t=300' }).end();
        return;
      }
      if (path.endsWith('/endless')) {
        response.writeHead(200);
        let sent = 0;
        const more = (): void => {
          sent += bytes.length;
          if (sent < 20 * bytes.length) response.write(bytes, (error) => error ?? more());
          else response.end(() => asked.push(`${path} whole`));
        };
        more();
        return;
      }
      const rest = path.endsWith('/wrong')
        ? Buffer.alloc(bytes.length - from)
        : path.endsWith('/larger')
          ? Buffer.alloc(2 * bytes.length)
          : bytes.subarray(from);
      response.writeHead(from > 0 ? 206 : 200, {
        'content-length': rest.length,
        ...(from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
      });
      if (path.endsWith('/drips')) response.write(rest.subarray(0, 10_000), () => response.destroy());
      else response.end(rest);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** A node, the job with this path of the server, and the requests for it. */
  const start = (shell: Shell, path: string, isHttpAllowed = true) => {
    const root = jobRoot(shell);
    root.tool('bin/sleep', 'exec /bin/sleep 0.05');
    const own = `/${shell.name.replaceAll(/\W/g, '')}/${path}`;
    const args = { tree: exampleRuntime, archive: 'tar.gz', sha256: sha256(bytes), sizeBytes: bytes.length } as const;
    const call: JobCall = {
      name: 'fetch-archive',
      args: { ...args, url: `${url}${own}`, ...(isHttpAllowed ? { plainHttp: true } : {}) },
    };
    return {
      root,
      call,
      requests: () => asked.filter((one) => one.startsWith(own)).map((one) => one.slice(own.length)),
    };
  };

  describe.concurrent.each(scriptShells)('in $name', (shell) => {
    it('stores the verified archive where it will be unpacked', async () => {
      const { root, call } = start(shell, 'whole');
      expect(await runJob(root, call)).toMatchObject({ exit: 0, done: bytes.length, total: bytes.length });
      expect(root.read(target)).toBe(bytes.toString());
    });

    it('resumes a partial archive and does not fetch a verified archive again', async () => {
      const { root, call, requests } = start(shell, 'rest');
      root.file(`${target}.part`, bytes.subarray(0, 12_345).toString());
      expect(await runJob(root, call)).toMatchObject({ exit: 0 });
      expect([requests(), root.read(target)]).toEqual([[' 12345'], bytes.toString()]);
    });

    it('fails after two wrong archives and keeps neither', async () => {
      const { root, call, requests } = start(shell, 'wrong');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest' } });
      expect(requests()).toEqual([' 0', ' 0']);
      expect([root.has(target), root.has(`${target}.part`)]).toEqual([false, false]);
    });

    it("stores at most one byte more than the archive's size, even if the server sends no content length", async () => {
      for (const path of ['endless', 'larger']) {
        const { root, call, requests } = start(shell, path);
        root.tool(
          'bin/rm',
          'for f in "$@"; do case $f in (*.part) /usr/bin/wc -c <"$f" >>"$R/../sizes" ;; esac; done; exec /bin/rm "$@"',
        );
        expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'wrong-size' } });
        expect(requests()).toEqual([' 0']);
        expect(root.has(`${target}.part`)).toBe(false);
        expect(Number(root.read('../sizes'))).toBe(path === 'endless' ? bytes.length + 1 : 0);
      }
    });

    it('gives up if the server asks for more than half an hour of pauses in total', async () => {
      const { root, call, requests } = start(shell, 'limited');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'fetch-failed' } });
      expect(requests()).toHaveLength(7);
    });

    it('gives up after three responses with almost no data', async () => {
      const { root, call, requests } = start(shell, 'drips');
      expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'fetch-failed' } });
      expect(requests()).toEqual([' 0', ' 10000', ' 20000']);
    });

    it('fails without the archive, without HTTPS and without disk space', async () => {
      const missing = start(shell, 'missing');
      expect(await runJob(missing.root, missing.call)).toMatchObject({ failure: { slug: 'fetch-refused' } });
      const refused = start(shell, 'refused', false);
      expect(await runJob(refused.root, refused.call)).toMatchObject({ failure: { slug: 'fetch-failed' } });
      const full = start(shell, 'full');
      full.root.file('../free', '100');
      expect(await runJob(full.root, full.call)).toMatchObject({ failure: { slug: 'disk-full' } });
      expect([...refused.requests(), ...full.requests()]).toEqual([]);
    });
  });
});
