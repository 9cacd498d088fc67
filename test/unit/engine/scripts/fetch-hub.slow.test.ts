import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchBody } from '../../../../src/engine/scripts/job.ts';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { cdnHost, type FakeHub, hubHost, openFakeHub } from '../../../servers/fake-hub.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, isVerified, key, makeJobRoot, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const token = 'hf_canary0123456789';
const weights = Buffer.alloc(300_000, 'weights ');
const contents = { 'config.json': Buffer.from('{}'), 'model.safetensors': weights };
const jobRoot = removedAfter(makeJobRoot);
const shell = scriptShells[0] as Shell;

let hub: FakeHub;
let commit = '';
beforeAll(async () => {
  hub = await openFakeHub({ tokens: { [token]: { opens: ['acme/secret'] } } });
  commit = hub.push('acme/secret', { files: contents, isPrivate: true });
});
afterAll(() => hub.close());
afterEach(() => hub.reset());

/** A node whose curl reaches the fake Hub and records its arguments and environment. */
function newRoot(): MacRoot {
  const root = jobRoot(shell);
  root.tool('bin/sleep', 'printf "%s\\n" "$1" >>"$R/../slept"; exec /bin/sleep 0.05');
  writeFileSync(join(root.folder, '../ca'), hub.ca);
  const hosts = hub.lines
    .trim()
    .split('\n')
    .map((line) => `--connect-to ${line.replace(' ', ':')}`)
    .join(' ');
  root.tool(
    'usr/bin/curl',
    `{ printf '%s\\n' "$*"; /usr/bin/env; } >>"$R/../seen"\nexec /usr/bin/curl "$@" --cacert "$R/../ca" ${hosts}`,
  );
  return root;
}

const call: () => JobCall = () => ({
  name: 'fetch-model',
  args: {
    tree: exampleModel,
    files: Object.entries(contents).map(([path, bytes]) => ({ path, sha256: sha256(bytes), sizeBytes: bytes.length })),
    source: {
      kind: 'url',
      base: `https://${hubHost}/acme/secret/resolve/${commit}/`,
      secret: true,
      maxBytesPerSecond: 75_000_000,
    },
  },
});

async function fetchWith(root: MacRoot, secret: string) {
  const { result } = await root.runBody(launchBody(key, call(), { token: secret }));
  expect(result).toMatchObject({ kind: 'done', isChanged: true });
  return ended(root);
}

/** The text of every file in and next to the node's root. */
const everyText = (root: MacRoot): string =>
  readdirSync(join(root.folder, '..'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

describe('fetch-model from Hugging Face', () => {
  it('sends the token only to the Hub, and leaves it in no argument, environment or file', async () => {
    const root = newRoot();
    expect(await fetchWith(root, token)).toMatchObject({ exit: 0 });
    expect(isVerified(root, exampleModel)).toBe(true);
    expect(new Set(hub.requests.filter(({ authorization }) => authorization).map(({ host }) => host))).toEqual(
      new Set([hubHost]),
    );
    expect(hub.count({ host: cdnHost })).toBe(1);
    expect(everyText(root)).toContain('--limit-rate 75000000');
    expect(everyText(root)).not.toContain(token);
  });

  it('gives up immediately if the Hub refuses the token', async () => {
    const root = newRoot();
    expect(await fetchWith(root, 'hf_wrong')).toMatchObject({ exit: 1, failure: { slug: 'fetch-refused' } });
    expect(hub.requests).toHaveLength(1);
  });

  it('waits only once, for as long as the rate limit requires', async () => {
    const root = newRoot();
    root.tool('bin/sleep', 'printf "%s\\n" "$1" >>"$R/../slept"; exec /bin/sleep "$1"');
    hub.limit('resolvers', 0, 2);
    expect(await fetchWith(root, token)).toMatchObject({ exit: 0 });
    expect(hub.requests.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(readFileSync(join(root.folder, '../slept'), 'utf8')).toMatch(/^[12]\n/m);
  });

  it('asks the Hub again when a signed address has expired', async () => {
    const root = newRoot();
    hub.fault({ kind: 'status', status: 403 }, { host: cdnHost, times: 1 });
    expect(await fetchWith(root, token)).toMatchObject({ exit: 0 });
    expect(hub.count({ host: cdnHost })).toBe(2);
    expect(hub.count({ host: hubHost, path: /safetensors/ })).toBe(2);
  });

  it('continues where a truncated answer ended', async () => {
    const root = newRoot();
    hub.fault({ kind: 'truncated', afterBytes: 100_000 }, { host: cdnHost, times: 2 });
    expect(await fetchWith(root, token)).toMatchObject({ exit: 0 });
    expect(hub.bytes({ host: cdnHost })).toBe(weights.length);
  });

  it('publishes neither a Git LFS pointer nor a file with a wrong byte', async () => {
    for (const fault of [{ kind: 'pointer' }, { kind: 'wrong-bytes', at: 7 }] as const) {
      const root = newRoot();
      hub.fault(fault, { host: cdnHost });
      expect(await fetchWith(root, token)).toMatchObject({ exit: 1 });
      expect(isVerified(root, exampleModel)).toBe(false);
      hub.reset();
    }
  });
});
