import { createHash } from 'node:crypto';
import { request } from 'node:https';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../until.ts';
import { cdnHost, type FakeHub, hubHost, openFakeHub } from './fake-hub.ts';

const weights = Buffer.alloc(300_000, 'weights ');
const config = '{"model_type":"llama"}\n';
const id = 'acme/tiny';
const good = 'hf_good';
let hub: FakeHub;
let commit = '';

beforeAll(async () => {
  hub = await openFakeHub({
    tokens: { [good]: { opens: ['acme/secret', 'acme/terms'] }, hf_other: { opens: [] } },
    pageSize: 2,
  });
  commit = hub.push(id, { files: { 'config.json': config, 'model.safetensors': weights, 'sub/notes.md': '' } });
  hub.push('acme/secret', { files: { 'config.json': config }, isPrivate: true });
  hub.push('acme/terms', { files: { 'config.json': config }, gated: 'manual' });
});
afterEach(() => hub.reset());
afterAll(() => hub.close());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether the connection closed before the body was complete. */
  readonly isCut: boolean;
}

/** One request without redirects; `url` is a page of the Hub or a whole URL. */
function get(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const whole = url.startsWith('https:') ? url : `${hub.origin}/${hubHost}${url}`;
  return new Promise((resolve, reject) => {
    const asked = request(whole, { ca: hub.ca, headers, method }, (response) => {
      const parts: Buffer[] = [];
      const done = (isCut: boolean): void => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts), isCut });
      };
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('end', () => done(false));
      response.once('error', () => done(true));
    });
    asked.once('error', reject);
    asked.end();
  });
}
const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
const json = async (url: string, headers?: Readonly<Record<string, string>>) => {
  const { status, headers: got, body } = await get(url, headers);
  return { status, code: got['x-error-code'], link: got['link'], value: JSON.parse(body.toString()) };
};
const file = (path: string): string => `/${id}/resolve/${commit}/${path}`;
const linkTo = async (path: string): Promise<string> => String((await get(file(path))).headers['location']);
const sha = (algorithm: string, ...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

describe('the fake Hub', () => {
  it('lists files in pages, with correct hashes', async () => {
    const first = await json(`/api/models/${id}/tree/${commit}?recursive=true&expand=false`);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.link)) ?? [];
    const second = await json(next);
    expect([first.value.length, second.value.length, second.link]).toEqual([2, 2, undefined]);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha('sha256', weights)}\nsize 300000\n`;
    expect([...first.value, ...second.value]).toEqual([
      { type: 'file', path: 'config.json', size: 23, oid: sha('sha1', 'blob 23\0', config) },
      {
        type: 'file',
        path: 'model.safetensors',
        size: 300_000,
        oid: sha('sha1', `blob ${pointer.length}\0`, pointer),
        lfs: { oid: sha('sha256', weights), size: 300_000, pointerSize: pointer.length },
        xetHash: expect.not.stringMatching(sha('sha256', weights)),
      },
      { type: 'directory', path: 'sub', size: 0, oid: expect.any(String) },
      // The blob that git has for every empty file.
      { type: 'file', path: 'sub/notes.md', size: 0, oid: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391' },
    ]);
    const shallow = await json(`/api/models/${id}/tree/${commit}/sub`);
    expect(shallow.value.map((one: { path: string }) => one.path)).toEqual(['sub/notes.md']);
  });

  it('redirects a large file to a signed link on a different host', async () => {
    const { status, headers } = await get(file('model.safetensors'), {}, 'HEAD');
    expect([status, headers['x-repo-commit'], headers['x-linked-size'], headers['x-linked-etag']]).toEqual([
      302,
      commit,
      '300000',
      `"${sha('sha256', weights)}"`,
    ]);
    const link = new URL(String(headers['location']));
    expect([link.hostname, link.pathname.split('/')[1]]).toEqual(['localhost', cdnHost]);
    expect((await get(link.href)).body.equals(weights)).toBe(true);
    const part = await get(link.href, { range: 'bytes=299996-' });
    expect([part.status, part.headers['content-range'], part.body.toString()]).toEqual([
      206,
      'bytes 299996-299999/300000',
      'hts ',
    ]);
    expect((await get(link.href, { range: 'bytes=300000-' })).status).toBe(416);
    expect((await get(link.href.replace('Signature=', 'Signature=x'))).status).toBe(403);
    expect([hub.count({ host: cdnHost }), hub.bytes({ host: cdnHost, path: /xet-bridge/ })]).toEqual([4, 300_004]);
  });

  it('redirects a small file to a page of its own', async () => {
    const { status, headers } = await get(file('config.json'));
    expect([status, headers['etag'], headers['x-linked-size']]).toEqual([
      307,
      `"${sha('sha1', 'blob 23\0', config)}"`,
      undefined,
    ]);
    const page = String(headers['location']);
    expect([new URL(page).origin, (await get(page)).body.toString()]).toEqual([hub.origin, config]);
  });

  it('lets links expire, and rejects a token in a request to its content network', async () => {
    const link = await linkTo('model.safetensors');
    expect((await get(link, bearer(good))).status).toBe(400);
    expect(hub.requests.at(-1)?.authorization).toBe(`Bearer ${good}`);
    hub.expireLinks();
    expect((await get(link)).status).toBe(403);
    expect((await get(await linkTo('model.safetensors'))).status).toBe(200);
  });

  it.each([
    ['/api/models/acme/none/revision/main', undefined, 401, 'RepoNotFound'],
    ['/api/models/acme/none/revision/main', good, 404, 'RepoNotFound'],
    ['/api/models/acme/secret/revision/main', undefined, 401, 'RepoNotFound'],
    ['/api/models/acme/secret/revision/main', 'hf_other', 404, 'RepoNotFound'],
    ['/api/models/acme/secret/revision/main', good, 200, undefined],
    ['/api/models/acme/tiny/revision/main', 'hf_expired', 401, undefined],
    ['/api/models/acme/tiny/revision/v9', undefined, 404, 'RevisionNotFound'],
    ['/acme/tiny/resolve/main/none.json', undefined, 404, 'EntryNotFound'],
    ['/api/models/acme/terms/revision/main', undefined, 200, undefined],
    ['/acme/terms/resolve/main/config.json', undefined, 401, 'GatedRepo'],
    ['/acme/terms/resolve/main/config.json', 'hf_other', 403, 'GatedRepo'],
    ['/acme/terms/resolve/main/config.json', 'hf_expired', 401, 'GatedRepo'],
    ['/api/models/acme/terms/revision/main', 'hf_expired', 401, undefined],
    ['/acme/terms/resolve/main/config.json', good, 307, undefined],
  ])('responds to %s with token %s: %i %s', async (url, token, status, code) => {
    const answer = await get(url, token === undefined ? {} : bearer(token));
    expect([answer.status, answer.headers['x-error-code']]).toEqual([status, code]);
  });
});

describe('a fault of the fake Hub', () => {
  const large = { host: cdnHost };

  it('ignores a range', async () => {
    hub.fault({ kind: 'ignored-range' }, large);
    const { status, body } = await get(await linkTo('model.safetensors'), { range: 'bytes=10-' });
    expect([status, body.length]).toEqual([200, 300_000]);
  });

  it('stalls after some bytes', async () => {
    hub.fault({ kind: 'stalled', afterBytes: 7 }, large);
    const link = await linkTo('model.safetensors');
    const parts: Buffer[] = [];
    const asked = request(link, { ca: hub.ca }, (response) => response.on('data', (part: Buffer) => parts.push(part)));
    asked.on('error', () => undefined).end();
    await until(() => Buffer.concat(parts).length >= 7);
    // The server answers a later request completely, while this one stays open with its seven bytes.
    hub.reset();
    expect((await get(link)).body.length).toBe(300_000);
    expect([Buffer.concat(parts).toString(), asked.closed]).toEqual(['weights', false]);
    asked.destroy();
  });

  it('limits the speed', async () => {
    hub.fault({ kind: 'slow', bytesPerSecond: 1_500_000 }, large);
    const start = performance.now();
    expect((await get(await linkTo('model.safetensors'))).body.length).toBe(300_000);
    expect(performance.now() - start).toBeGreaterThan(120);
  });

  it('redirects in a loop', async () => {
    hub.fault({ kind: 'redirect-loop' }, large);
    const link = await linkTo('model.safetensors');
    const { status, headers } = await get(link);
    expect([status, new URL(String(headers['location'])).pathname]).toEqual([302, new URL(link).pathname]);
  });
});
