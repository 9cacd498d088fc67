/** The real `hf` against the fake Hub, and meshwright with the caches that the real `hf` writes. */
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DesiredModel } from '../../src/model/desired.ts';
import type { Facts } from '../../src/model/facts/fact-values.ts';
import { nodePath } from '../../src/node/paths/node-paths.ts';
import { stagedTree } from '../../src/node/paths/own-paths.ts';
import { bestCopy, soughtModel } from '../../src/rack/artifacts/sources/adopted-copy.ts';
import { pythonPackages } from '../python/packages.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { removedAfter } from '../unit/engine/scripts/node-root.ts';
import { makeJobRoot, runJob, sha256 } from '../unit/engine/scripts/run-job.ts';
import { exampleModel } from '../unit/engine/scripts/script-examples.ts';
import { scriptShells } from '../unit/engine/scripts/shells.ts';
import { searchCopies } from '../unit/node/probes/search-copies.ts';
import { type FakeHub, openFakeHub } from './fake-hub.ts';

const python = pythonPackages('hf');
const files = {
  'config.json': '{"model_type":"llama"}',
  'model.safetensors': 'w'.repeat(70_000),
  'sub/notes.md': '# tiny',
};
const total = Object.keys(files).length;
const repository = 'acme/tiny';

const place = temporaryFolder();
let hub: FakeHub;
beforeAll(async () => {
  hub = await openFakeHub({ pageSize: 2, tokens: { hf_good: { opens: ['acme/secret'] } } });
  hub.push(repository, { files, isInXet: false });
  hub.push('acme/secret', { files, isInXet: false, isPrivate: true });
  place.write('ca', hub.ca);
});
afterAll(() => hub.close());

/** Runs a program of the environment with a home of its own; resolves to its exit code and what it printed. */
async function run(home: string, program: string, words: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const env = {
    ...{ PATH: process.env['PATH'], HOME: home, HF_HUB_DISABLE_TELEMETRY: '1', SSL_CERT_FILE: place.at('ca') },
    ...{ HF_ENDPOINT: `${hub.origin}/huggingface.co`, HF_HUB_DISABLE_XET: '1', ...variables },
  };
  const ran = promisify(execFile)(join(python ?? '', 'bin', program), [...words], { env, encoding: 'utf8' });
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout: stdout.trim(), stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: String(stdout).trim(), stderr: String(stderr) }),
  );
}

/** The files in a folder, with what links lead to; not the records that `hf` keeps there. */
const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('.cache') && statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

describe.skipIf(python === undefined)('the real hf', () => {
  it('downloads a repository from the fake Hub, verifies it, and opens it offline', async () => {
    const home = place.at('cache');
    const downloaded = await run(home, 'hf', ['download', repository, '--quiet']);
    expect(downloaded).toMatchObject({ code: 0, stderr: expect.not.stringContaining('rror') });
    expect(filesIn(downloaded.stdout)).toEqual(files);
    expect(hub.requests.filter(({ status }) => status === 404).map(({ path }) => path)).toEqual([
      '/api/agent-harnesses',
    ]);
    const verified = await run(home, 'hf', ['cache', 'verify', repository]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(new RegExp(`\\b${total}\\b`))]);
    hub.reset();
    const open = `from huggingface_hub import snapshot_download as s; print(s('${repository}', local_files_only=True))`;
    const opened = await run(home, 'python', ['-c', open], { HF_HUB_OFFLINE: '1' });
    expect([opened.code, opened.stdout, hub.requests]).toEqual([0, downloaded.stdout, []]);
  });

  it('downloads into a separate folder, with Xet enabled', async () => {
    const words = ['download', repository, '--local-dir', place.at('local')];
    expect(await run(place.at('xet'), 'hf', words, { HF_HUB_DISABLE_XET: '0' })).toMatchObject({ code: 0 });
    expect(filesIn(place.at('local'))).toEqual(files);
  });

  it('downloads a private repository only with its token', async () => {
    const home = place.at('private');
    const refused = await run(home, 'hf', ['download', 'acme/secret']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Repository not found')]);
    expect(await run(home, 'hf', ['download', 'acme/secret'], { HF_TOKEN: 'hf_good' })).toMatchObject({ code: 0 });
  });
});

/** Moves a large file to where `hf` stores it after a download by Xet. */
const share = `import sys
from pathlib import Path
from huggingface_hub.utils._shared_blobs import publish_blob_to_shared_store
blob = next(one for one in Path(sys.argv[1]).glob('models--*/blobs/*') if one.stat().st_size == ${files['model.safetensors'].length})
print(publish_blob_to_shared_store(blob_path=blob, xet_hash='ab' * 32, cache_dir=sys.argv[1], expected_size=blob.stat().st_size))`;

const shell = scriptShells[0];
const newRoot = removedAfter(() => makeJobRoot(shell as NonNullable<typeof shell>));

describe.skipIf(python === undefined)('a cache that the real hf wrote', () => {
  it.each([
    ['one repository has its files', []],
    ['repositories share large files, as after a download by Xet', ['-c', share]],
  ])('is adopted as a whole if %s', async (_, words) => {
    const root = newRoot();
    // The search runs as an account without rights.
    for (const one of [tmpdir(), dirname(root.folder)]) chmodSync(one, statSync(one).mode | 0o011);
    chmodSync(join(root.folder, 'tmp'), 0o777);
    chmodSync(join(root.folder, '../started'), 0o666);
    root.tool('usr/sbin/lsof', 'exit 1');
    const home = join(root.folder, 'Users/ana');
    expect(await run(home, 'hf', ['download', repository, '--quiet'])).toMatchObject({ code: 0 });
    if (words.length > 0) {
      const shared = await run(home, 'python', [...words, join(home, '.cache/huggingface/hub')]);
      expect(shared).toMatchObject({ stdout: 'True' });
    }
    const trees = Object.entries(files).map(([path, text]) => ({ path, sha256: sha256(text), sizeBytes: text.length }));
    const wanted = { name: 'tiny', repository, files: trees } as unknown as DesiredModel;
    const sought = soughtModel(wanted);
    const found = searchCopies(root.folder, sought === undefined ? [] : [sought]);
    const copy = bestCopy(wanted, { 'model-copies': found } as Facts);
    expect(copy).toMatchObject({ layout: 'hub', files: trees });
    const path = (text = '') => nodePath(text as `/${string}`);
    const args = { tree: exampleModel, files: copy?.files ?? [], folder: path(copy?.folder), fence: path(copy?.fence) };
    expect(await runJob(root, { name: 'adopt-model', args })).toMatchObject({ state: 'ended', exit: 0 });
    const staged = join(root.folder, stagedTree(exampleModel).path);
    expect(filesIn(staged)).toEqual(files);
    const verified = await run(home, 'hf', ['cache', 'verify', repository, '--local-dir', staged]);
    expect(verified).toMatchObject({ code: 0 });
  });
});
