import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServerList } from '../../../../src/cli/sources/url-source.ts';
import { type FakeWeb, openFakeWeb } from '../../../servers/fake-web.ts';
import { longestWaitMs } from '../../../until.ts';
import { sha256 } from '../../engine/scripts/run-job.ts';

const host = 'models.lan';
const pages: Record<string, string> = {
  '/kimi/SHA256SUMS': `${sha256('{}')}  ./config.json\n${sha256('w')}  sub folder/w 1.safetensors\n`,
  '/kimi/config.json': '{}',
  '/kimi/sub folder/w 1.safetensors': 'w',
  '/huge/SHA256SUMS': `${sha256('{}')}  config.json\n`,
  '/huge/config.json': '{}',
  '/half/SHA256SUMS': `${sha256('{}')}  config.json\n`,
  '/page/SHA256SUMS': '<html>',
};
let web: FakeWeb;
beforeAll(async () => {
  web = await openFakeWeb(
    new Map([
      [
        host,
        ({ path }) =>
          pages[path] === undefined
            ? { status: 404 }
            : {
                status: 200,
                body: Buffer.from(pages[path]),
                ...(path === '/huge/config.json' ? { headers: { 'content-length': '900719925474099' } } : {}),
              },
      ],
    ]),
  );
});
afterAll(() => web.close());

const read = (folder: string) =>
  readServerList(`${web.origin}/${host}/${folder}/`, {
    ca: web.ca,
    signal: AbortSignal.timeout(longestWaitMs),
    deadlineMs: 30_000,
  });

describe("a server's list of files", () => {
  it('has the digests from SHA256SUMS and the file sizes, without downloading any file', async () => {
    web.reset();
    expect(await read('kimi')).toEqual({
      kind: 'known',
      files: [
        { path: 'config.json', sha256: sha256('{}'), sizeBytes: 2 },
        { path: 'sub folder/w 1.safetensors', sha256: sha256('w'), sizeBytes: 1 },
      ],
    });
    expect(web.requests.map(({ method }) => method).toSorted()).toEqual(['GET', 'HEAD', 'HEAD']);
  });

  it.each([
    ['none', /none\/SHA256SUMS does not exist \(HTTP 404\)/, /shasum -a 256/],
    ['page', /SHA256SUMS: line 1 is not a checksum/, /shasum -a 256/],
    ['huge', /huge\/config\.json has 900\.7 TB; the limit is 10\.0 TB/, /Check the URL/],
    ['half', /half\/config\.json does not exist \(HTTP 404\)/, /Check the URL/],
  ])('is unknown, with a hint: %s', async (folder, detail, hint) => {
    expect(await read(folder)).toEqual({
      kind: 'unresolved',
      detail: expect.stringMatching(detail),
      hint: expect.stringMatching(hint),
    });
  });

  it('is unknown if the server cannot be reached', async () => {
    const answer = await readServerList('https://127.0.0.1:1/', {
      signal: AbortSignal.timeout(longestWaitMs),
      deadlineMs: 30_000,
    });
    expect(answer).toMatchObject({ kind: 'unresolved', detail: expect.stringMatching(/ECONNREFUSED/) });
  });
});
