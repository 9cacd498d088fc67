import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRelease } from '../../../../src/cli/sources/release-source.ts';
import { archiveOf, nodeReleases, type PublishedArchive } from '../../../../src/desired/releases.ts';
import { exoReleases } from '../../../../src/drivers/exo/releases.ts';
import type { Release } from '../../../../src/model/desired.ts';
import { sectionsOf } from '../../../case-file.ts';
import { sha256 } from '../../engine/scripts/run-job.ts';
import { onOnePage, say } from '../../one-page.ts';

const page = (name: string): string => {
  const text = readFileSync(join(import.meta.dirname, `../../../cases/releases/${name}.txt`), 'utf8');
  return sectionsOf(text, ['page', 'expected']).get('page') ?? '';
};
const bytes = Buffer.alloc(300_000, 'an archive ');

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const text =
  (body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
const archive: Answer = (response, { method }) => {
  response.writeHead(200, { 'content-length': bytes.length });
  response.end(method === 'HEAD' ? undefined : bytes);
};

describe('a release', () => {
  let server: Server;
  let mirror = '';
  let answers: Readonly<Record<string, Answer>> = {};
  let asked: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      (answers[request.url ?? ''] ?? text('not here', 404))(response, request);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** Resolves an archive from a server with these answers, by path. */
  const resolve = async (published: PublishedArchive, given: Readonly<Record<string, Answer>>) => {
    [answers, asked] = [given, []];
    const { release } = archiveOf(undefined, published, { mirror, plainHttp: 'allowed' });
    let hashed = 0;
    const fact = await resolveRelease(
      release as Release,
      { signal: new AbortController().signal, deadlineMs: 30_000 },
      (count) => {
        hashed += count;
      },
    );
    say(JSON.stringify(fact).replaceAll(mirror, 'http://mirror').replaceAll(new URL(mirror).host, 'mirror'));
    return { fact, hashed };
  };
  const exoPage = '/api.github.com/repos/exo-explore/exo/releases/tags/v1.0.72';
  const exo = exoReleases.archive('1.0.72');
  const named = (name: string) => page(name).replaceAll(/1\.0\.(?:71|60)/g, '1.0.72');

  it('is resolved without a request if its digest is known', async () => {
    const { fact } = await resolve(exoReleases.archive('1.0.71'), {});
    expect(fact).toEqual({ kind: 'known', ...exoReleases.archive('1.0.71').known });
    expect(asked).toEqual([]);
  });

  it("has the digest and size from GitHub's page", async () => {
    const { fact } = await resolve(exo, { [exoPage]: text(named('exo-1.0.71')) });
    expect(fact).toMatchObject({ kind: 'known', sizeBytes: 412_972_413 });
    expect(asked).toEqual([`GET ${exoPage}`]);
  });

  it('takes the digest of Node.js from the published list, and the size from the archive', async () => {
    const { known: _, ...node } = nodeReleases.archive('22.22.0');
    const folder = '/nodejs.org/dist/v22.22.0';
    const path = `${folder}/node-v22.22.0-darwin-arm64.tar.gz`;
    const { fact, hashed } = await resolve(node, {
      [`${folder}/SHASUMS256.txt`]: text(page('node-22.22.0')),
      [path]: archive,
    });
    expect(fact).toMatchObject({ kind: 'known', sizeBytes: bytes.length });
    expect([asked, hashed]).toEqual([[`GET ${folder}/SHASUMS256.txt`, `HEAD ${path}`], 0]);
  });

  it('is hashed once if it has no published digest', async () => {
    const at = '/github.com/exo-explore/exo/releases/download/v1.0.72/EXO-1.0.72.dmg';
    const moved = text('', 302, { location: `${mirror}/elsewhere` });
    const { fact, hashed } = await resolve(exo, {
      [exoPage]: text(named('digest-null')),
      [at]: moved,
      '/elsewhere': archive,
    });
    expect(fact).toEqual({ kind: 'known', sha256: sha256(bytes), sizeBytes: bytes.length });
    expect([asked, hashed]).toEqual([[`GET ${exoPage}`, `GET ${at}`, 'GET /elsewhere'], bytes.length]);
    const own = await resolve({ url: 'https://site.lan/own.tar.gz' }, { '/site.lan/own.tar.gz': archive });
    expect(own.fact).toEqual(fact);
  });

  const limited = (status: number, headers: Readonly<Record<string, string>>) => text('{}', status, headers);
  it.each([
    ['an unknown version', text('{"message":"Not Found"}', 404), 'no-release'],
    // Only the files for Macs are named.
    ['no file of this name', text(named('llama-b10950').replaceAll('-x64.zip', '.dmg.zip')), 'no-release'],
    ['something else', text('<html>'), 'unresolved'],
    [
      'a limit with a reset',
      limited(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795000000' }),
      'unresolved',
    ],
    ['a limit with a pause', limited(429, { 'retry-after': '60' }), 'unresolved'],
    [
      'a file of 9,007 TB',
      text(named('exo-1.0.71').replaceAll(/"size": *\d+/g, '"size":9007199254740991')),
      'unresolved',
    ],
    ['an error', text('', 500), 'unresolved'],
    ['a loop', text('', 302, { location: exoPage }), 'unresolved'],
  ] as const)('is not resolved if its page has %s', async (_, answer, kind) => {
    const { fact } = await resolve(exo, { [exoPage]: answer });
    expect(fact.kind).toBe(kind);
  });

  it('is not resolved if the response is truncated or the server cannot be reached', async () => {
    const url = 'https://site.lan/own.tar.gz';
    const cutOff: Answer = (response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 1_000), () => response.destroy());
    };
    const cut = await resolve({ url }, { '/site.lan/own.tar.gz': cutOff });
    expect(cut.fact).toMatchObject({ kind: 'unresolved', detail: expect.stringContaining('cannot be reached') });
    const gone = { url, from: 'http://127.0.0.1:59999/own.tar.gz', plainHttp: true } as const;
    const fact = await resolveRelease(
      gone,
      { signal: new AbortController().signal, deadlineMs: 30_000 },
      () => undefined,
    );
    expect(fact).toMatchObject({ kind: 'unresolved', detail: expect.stringContaining('ECONNREFUSED') });
  });

  it('is not resolved after an interruption', async () => {
    const release = { url: 'https://site.lan/a.zip', from: `${mirror}/site.lan/a.zip` };
    await expect(
      resolveRelease(release, { signal: AbortSignal.abort(), deadlineMs: 30_000 }, () => undefined),
    ).rejects.toThrow();
  });
});

onOnePage('resolve-releases');
