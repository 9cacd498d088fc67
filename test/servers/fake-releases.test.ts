import { createHash } from 'node:crypto';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetHost, fakeReleases, githubApiHost, nodeHost } from './fake-releases.ts';
import { type FakeWeb, openFakeWeb } from './fake-web.ts';

const archive = Buffer.alloc(1_000, 'archive ');
const sum = createHash('sha256').update(archive).digest('hex');
const releases = fakeReleases({
  github: { 'ggml-org/llama.cpp@b9000': { 'llama-b9000-bin-macos-arm64.tar.gz': archive, 'old.zip': 'old' } },
  withoutDigest: ['old.zip'],
  node: { 'v24.4.1': { 'node-v24.4.1-darwin-arm64.tar.gz': archive } },
});
let web: FakeWeb;
beforeAll(async () => {
  web = await openFakeWeb(releases.sites);
});
afterAll(() => web.close());

function get(url: string, headers: Readonly<Record<string, string>> = {}) {
  return new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>(
    (resolve, reject) => {
      const asked = request(url, { ca: web.ca, headers }, (response) => {
        let text = '';
        response.on('data', (part: Buffer) => {
          text += part.toString('latin1');
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      asked.once('error', reject);
      asked.end();
    },
  );
}
const release = () => get(`${web.origin}/${githubApiHost}/repos/ggml-org/llama.cpp/releases/tags/b9000`);

describe('the fake release servers', () => {
  it('publish the digest of an asset, and none of an old one', async () => {
    expect(JSON.parse((await release()).text)).toMatchObject({
      tag_name: 'b9000',
      assets: [
        { name: 'llama-b9000-bin-macos-arm64.tar.gz', size: 1_000, digest: `sha256:${sum}` },
        { name: 'old.zip', size: 3, digest: null },
      ],
    });
    expect((await get(`${web.origin}/${githubApiHost}/repos/ggml-org/llama.cpp/releases/tags/b1`)).status).toBe(404);
  });

  it('redirect a download to a different host with ranges', async () => {
    const { assets } = JSON.parse((await release()).text);
    const { status, headers } = await get(assets[0].browser_download_url);
    const location = new URL(String(headers['location']));
    expect([status, location.pathname.split('/')[1]]).toEqual([302, assetHost]);
    expect(location.origin).not.toBe(new URL(assets[0].browser_download_url).origin);
    expect(await get(location.href, { range: 'bytes=992-' })).toMatchObject({ status: 206, text: 'archive ' });
    expect((await get(`${location.origin}${location.pathname}`)).status).toBe(403);
  });

  it("serve Node's archives and their sums", async () => {
    const folder = `${web.origin}/${nodeHost}/dist/v24.4.1`;
    expect((await get(`${folder}/SHASUMS256.txt`)).text).toBe(`${sum}  node-v24.4.1-darwin-arm64.tar.gz\n`);
    expect((await get(`${folder}/node-v24.4.1-darwin-arm64.tar.gz`)).text).toBe(archive.toString());
    expect((await get(`${web.origin}/${nodeHost}/dist/v1.0.0/SHASUMS256.txt`)).status).toBe(404);
  });

  it('refuse requests over the rate limit until it resets', async () => {
    releases.limitApi(60);
    const { status, headers } = await release();
    expect([status, headers['x-ratelimit-remaining']]).toEqual([403, '0']);
    expect(Number(headers['x-ratelimit-reset']) * 1_000 - Date.now()).toBeGreaterThan(50_000);
    releases.limitApi(0);
    expect((await release()).status).toBe(200);
    web.fault({ kind: 'status', status: 429, headers: { 'retry-after': '7' } }, { host: githubApiHost, times: 1 });
    expect(await release()).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
  });
});
