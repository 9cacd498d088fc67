import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { currentCommit, type HubAccess, resolveRepository, tokenReader } from '../../../../src/cli/sources/hub.ts';
import { readToken, revisionNotice } from '../../../../src/cli/sources/hub-source.ts';
import { hubSource } from '../../../../src/desired/hub-source.ts';
import type { HubSource } from '../../../../src/model/desired.ts';
import { concealed } from '../../../../src/model/secret.ts';
import { jsonAnswer } from '../../../../src/sim/web/web-server.ts';
import { textOf } from '../../../architecture/sources.ts';
import { skipSleeps } from '../../../fake-clock.ts';
import { cdnHost, type FakeHub, hubHost, openFakeHub } from '../../../servers/fake-hub.ts';
import { openFakeWeb } from '../../../servers/fake-web.ts';
import { longestWaitMs } from '../../../until.ts';
import { sha256 } from '../../engine/scripts/run-job.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { fakeRun } from '../console-of.ts';

const files = {
  'README.md': '# tiny',
  '.gitattributes': 'x',
  'config.json': '{"model_type":"llama"}',
  'tokenizer.json': '{}',
  'model.safetensors': Buffer.alloc(70_000, 'w'),
};
let hub: FakeHub;
let commit = '';
beforeAll(async () => {
  hub = await openFakeHub({ pageSize: 2, tokens: { hf_good: { opens: ['acme/secret', 'acme/gated'] } } });
  commit = hub.push('acme/tiny', { files });
  hub.push('acme/secret', { files, isPrivate: true });
  hub.push('acme/gated', { files, gated: 'auto' });
  hub.push('acme/gguf', {
    files: { 'a-Q4_K_M-00001-of-00002.gguf': '1', 'a-Q4_K_M-00002-of-00002.gguf': '2', 'a-Q8_0.gguf': '3' },
  });
});
afterAll(() => hub.close());
afterEach(() => hub.reset());

const access = (more: Partial<HubAccess> = {}): HubAccess => ({
  downloads: { mirror: hub.origin },
  ca: hub.ca,
  signal: AbortSignal.timeout(longestWaitMs),
  deadlineMs: 30_000,
  pauses: { seconds: 0 },
  ...more,
});
const tokenOf = (text: string): NonNullable<HubAccess['token']> =>
  tokenReader(() => Promise.resolve({ kind: 'resolved', secret: concealed(text) }));
const source = (text: string, include?: readonly string[]): HubSource => hubSource(text, include) as HubSource;
async function resolved(text: string, more: Partial<HubAccess> = {}, include?: readonly string[]) {
  const found = await resolveRepository(source(text, include), access(more));
  return found.kind === 'known' ? found : sayValue(found);
}

describe('a repository', () => {
  it("has its revision's commit and the SHA-256 of every file that runtimes read, across all pages", async () => {
    const found = await resolved('hf:acme/tiny');
    expect(found).toMatchObject({ kind: 'known', commit });
    const read = ['config.json', 'model.safetensors', 'tokenizer.json'] as const;
    expect('files' in found && [...found.files].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      read.map((path) => ({ path, sha256: sha256(files[path]), sizeBytes: files[path].length })),
    );
    expect(hub.count({ host: cdnHost })).toBe(0);
  });

  it('is limited to the files that `include` selects', async () => {
    const found = await resolved('hf:acme/gguf', {}, ['*Q4_K_M*']);
    expect('files' in found && found.files.map(({ path }) => path).toSorted()).toEqual([
      'a-Q4_K_M-00001-of-00002.gguf',
      'a-Q4_K_M-00002-of-00002.gguf',
    ]);
  });

  it.each([
    ['hf:acme/gguf', undefined],
    ['hf:acme/tiny@never', undefined],
    ['hf:acme/none', undefined],
    ['hf:acme/secret', undefined],
    ['hf:acme/secret', 'hf_expired'],
    ['hf:acme/gated', undefined],
  ])('is unresolved with a hint: %s, with the token %s', async (text, token) => {
    const more = token === undefined ? {} : { token: tokenOf(token) };
    expect(Object.keys(await resolved(text, more))).toEqual(['kind', 'detail', 'hint']);
  });

  it('is resolved with a token that may read it', async () => {
    expect(await resolved('hf:acme/secret', { token: tokenOf('hf_good') })).toMatchObject({ kind: 'known' });
    expect(await resolved('hf:acme/gated', { token: tokenOf('hf_good') })).toMatchObject({ kind: 'known' });
  });

  it('is resolved without reading the token if the repository is public', async () => {
    const token = tokenReader(() => Promise.reject(new Error('the token was read')));
    expect(await resolved('hf:acme/tiny', { token })).toMatchObject({ kind: 'known', commit });
  });

  it.each([
    ['hf:acme/tiny', 'public'],
    ['hf:acme/secret', undefined],
    ['hf:acme/gated', undefined],
  ])('is public only if anyone may download it: %s', async (text, shown) => {
    const found = await resolved(text, { token: tokenOf('hf_good') });
    expect([found.kind, 'access' in found ? found.access : undefined]).toEqual(['known', shown]);
  });

  it('is refused if a small file differs from the list', async () => {
    hub.fault({ kind: 'wrong-bytes' }, { path: /config\.json$/ });
    expect(await resolved('hf:acme/tiny')).toMatchObject({ kind: 'unresolved' });
  });

  it('is requested again after the pause that the rate limit requires', async () => {
    const pauses: number[] = [];
    const onPause = (seconds: number): void => {
      pauses.push(seconds);
      hub.limit('api', 99, 10);
    };
    const sleptMs = skipSleeps();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    hub.limit('api', 1, 10);
    expect(await resolved('hf:acme/tiny', { onPause })).toMatchObject({ commit });
    expect([pauses, sleptMs]).toEqual([[10], [10_000]]);
  });

  it('is unresolved if the pauses between its requests would exceed 15 minutes in total', async () => {
    const paused: number[] = [];
    skipSleeps();
    const list = [...'abcdefgh'].map((name) => ({ type: 'file', path: `${name}.json`, size: 2, oid: 'ab'.repeat(20) }));
    const web = await openFakeWeb(
      new Map([
        [
          hubHost,
          ({ path }) => {
            if (path.includes('/revision/')) return jsonAnswer(200, { sha: commit });
            if (path.includes('/tree/')) return jsonAnswer(200, list);
            return { status: 429, headers: { 'retry-after': '999999' } };
          },
        ],
      ]),
    );
    onTestFinished(() => web.close());
    const more = { downloads: { mirror: web.origin }, ca: web.ca, onPause: (seconds: number) => paused.push(seconds) };
    expect(await resolveRepository(source('hf:acme/tiny'), access(more))).toMatchObject({
      detail: expect.stringContaining('still limits the rate of requests, after pauses of 900 s.'),
    });
    expect(paused).toEqual([300, 300, 300]);
  });

  it('is unresolved if the server cannot be reached or the connection drops', async () => {
    const sleptMs = skipSleeps();
    const closed = await resolved('hf:acme/tiny', { downloads: { mirror: 'https://127.0.0.1:1' } });
    expect(closed).toMatchObject({ kind: 'unresolved', detail: expect.stringMatching(/ECONNREFUSED/) });
    hub.fault({ kind: 'status', status: 503 });
    expect(await resolved('hf:acme/tiny')).toMatchObject({ detail: expect.stringMatching(/HTTP 503/) });
    expect(sleptMs).toEqual([1_000, 2_000, 1_000, 2_000]);
  });
});

describe('a list from the real Hub', () => {
  it("has a large file's SHA-256, not the Git hash of its pointer", async () => {
    const sha = 'dd4bc8b21efa05ec961e3efc4ee5e3832a3679c7';
    const api = '/api/models/google-bert/bert-base-uncased';
    const tree = JSON.parse(textOf('test/cases/hub/bert-base-uncased/tree.json'));
    const web = await openFakeWeb(
      new Map([
        [
          hubHost,
          ({ path }) =>
            path === `${api}/revision/main`
              ? jsonAnswer(200, { sha })
              : jsonAnswer(path.startsWith(`${api}/tree/${sha}`) ? 200 : 404, tree),
        ],
      ]),
    );
    const more = { downloads: { mirror: web.origin }, ca: web.ca };
    const found = await resolved('hf:google-bert/bert-base-uncased', more, ['*.bin']);
    await web.close();
    const sha256 = '097417381d6c7230bd9e3557456d726de6e83245ec8b24f529f60198a67b203a';
    const files = [{ path: 'pytorch_model.bin', sizeBytes: 440_473_133, sha256 }];
    expect(found).toEqual({ kind: 'known', commit: sha, files });
  });
});

describe('a long list', () => {
  it.each([
    [16, 'known'],
    [17, 'unresolved'],
  ])('has a size of %i MiB and is %s', async (megabytes, kind) => {
    const entries = JSON.stringify([{ type: 'file', path: 'a.json', size: 1, oid: '', lfs: { oid: 'ab'.repeat(32) } }]);
    const list = { ...jsonAnswer(200, []), body: Buffer.from(entries.padEnd(megabytes * 2 ** 20)) };
    const web = await openFakeWeb(
      new Map([[hubHost, ({ path }) => (path.includes('/tree/') ? list : jsonAnswer(200, { sha: 'ab'.repeat(20) }))]]),
    );
    skipSleeps();
    const more = { downloads: { mirror: web.origin }, ca: web.ca };
    const found = await resolveRepository(source('hf:acme/long'), access(more));
    await web.close();
    expect(found.kind).toBe(kind);
  });
});

describe('a list with a model of 9,007 TB', () => {
  it('is refused with an error that shows the limit', async () => {
    const list = [
      { type: 'file', path: 'a.json', size: 1, lfs: { oid: 'ab'.repeat(32), size: Number.MAX_SAFE_INTEGER } },
    ];
    const web = await openFakeWeb(
      new Map([[hubHost, ({ path }) => jsonAnswer(200, path.includes('/tree/') ? list : { sha: 'ab'.repeat(20) })]]),
    );
    onTestFinished(() => web.close());
    expect(await resolved('hf:acme/huge', { downloads: { mirror: web.origin }, ca: web.ca })).toMatchObject({
      kind: 'unresolved',
      detail: 'hf:acme/huge: Its files have 9007.2 TB; the limit is 10.0 TB.',
      hint: expect.stringContaining('`include`'),
    });
  });
});

describe('a Hugging Face token', () => {
  const read = async (token?: string) => {
    const { run } = fakeRun({ env: { HF_TOKEN: token, MESHWRIGHT_TRUST: 'env=HF_TOKEN' } });
    const found = await readToken(run, { downloads: { token: { kind: 'env', name: 'HF_TOKEN' } } } as never, '/');
    return found?.kind === 'missing' ? sayValue(found.diagnostic).code : found?.secret.reveal();
  };

  it('has only characters that curl sends unchanged, and is optional', async () => {
    expect(await readToken(fakeRun().run, {}, '/')).toBeUndefined();
    expect(await read('hf_aB9._~+/-=')).toBe('hf_aB9._~+/-=');
    for (const token of ['hf a', 'hf_a"', 'hf_\u00e4']) expect(await read(token)).toBe('secret/unusable');
    expect(await read()).toBe('secret/missing');
  });
});

describe('a revision in the lock', () => {
  const locked = { ...source('hf:acme/tiny'), commit: 'a'.repeat(40) };

  it.each([
    [{ kind: 'known', commit: 'a'.repeat(40) }, []],
    [{ kind: 'known', commit: 'b'.repeat(40) }, ['model/revision-moved']],
    [{ kind: 'unresolved', detail: 'No answer.' }, ['model/revision-unknown']],
  ] as const)('causes a notice if it has moved or may have moved: %o', (now, codes) => {
    expect(sayValue(revisionNotice('tiny', locked, now)).map(({ code }) => code)).toEqual(codes);
  });
});

describe('the current commit', () => {
  it('follows a branch that moved', async () => {
    expect(await currentCommit(source('hf:acme/tiny'), access())).toEqual({ kind: 'known', commit });
    const next = hub.push('acme/tiny', { files: { ...files, 'config.json': '{}' } });
    expect(await currentCommit(source('hf:acme/tiny'), access())).toEqual({ kind: 'known', commit: next });
    expect(next).not.toBe(commit);
  });
});

onOnePage('hub');
