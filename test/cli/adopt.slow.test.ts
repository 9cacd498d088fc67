/** Models that other software downloaded: apply takes them and serves, and their source is never contacted. */

import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyGguf, tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { filePart, first, pairFile, second } from '../scenarios/converge-file.ts';
import { sha256 } from '../unit/engine/scripts/run-job.ts';
import { diskOf } from './disks.ts';
import { json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const home = 'Users/ana';

/** For each layout: the Mac, and the path of the model's only file below the Mac's root. */
const layouts = {
  hub: [first, () => `${home}/.cache/huggingface/hub/models--acme--hub/snapshots/c1/model.gguf`],
  exo: [first, () => `${home}/.exo/models/acme--exo/model.gguf`],
  lmstudio: [first, () => `${home}/.lmstudio/models/acme/lmstudio/model.gguf`],
  ollama: [second, (digest: string) => `${home}/.ollama/models/blobs/sha256-${digest}`],
  llamacpp: [second, () => `${home}/Library/Caches/llama.cpp/acme_llamacpp_model.gguf`],
  named: [second, () => 'Volumes/fast/models/model.gguf'],
} as const;
type Layout = keyof typeof layouts;
const names = Object.keys(layouts) as readonly Layout[];

/** Each layout has a model of its own: the shape makes the bytes different. */
const models = Object.fromEntries(
  names.map((name, index) => [name, tinyGguf({ ...tinyShape, context: 512 + 64 * index })]),
) as Readonly<Record<Layout, Buffer>>;

const file = pairFile((value) => {
  value['runtimes'] = { llama: { driver: 'llamacpp-rpc', version: 'b10950' } };
  value['models'] = Object.fromEntries(
    names.map((name) => [
      name,
      {
        source: `https://no-such-server.invalid/${name}/`,
        repository: `acme/${name}`,
        files: { 'model.gguf': { sha256: sha256(models[name]), size: models[name].length } },
        ...(name === 'named' && { adopt: ['/Volumes/fast/models'] }),
      },
    ]),
  );
  const { runtime: _, sharding: __, fallback: ___, ...chat } = filePart(value, 'placements', 'chat');
  value['placements'] = Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        ...chat,
        model: name,
        runtime: 'llama',
        nodes: [layouts[name][0]],
        context: 256,
        endpoint: { port: 8090 + index },
      },
    ]),
  );
});

let originals: readonly string[] = [];
const run = (...words: string[]) => meshwright(place, [...words, '--sim']);

/**
 * Stores each model where its software keeps it. A file of the Hugging Face cache is a link to a blob, which is a link
 * to a file that the repositories share.
 */
function store(name: Layout): string {
  const [node, pathOf] = layouts[name];
  const path = join(diskOf(place, node), pathOf(sha256(models[name])));
  mkdirSync(dirname(path), { recursive: true });
  if (name !== 'hub') {
    writeFileSync(path, models[name]);
    return path;
  }
  const blob = join(dirname(path), '../../blobs', sha256(models[name]));
  const shared = join(dirname(blob), '../../blobs/0f/0f1e');
  for (const one of [blob, shared]) mkdirSync(dirname(one), { recursive: true });
  writeFileSync(shared, models[name]);
  symlinkSync('../../blobs/0f/0f1e', blob);
  symlinkSync(`../../blobs/${sha256(models[name])}`, path);
  return shared;
}

const stateOf = (path: string) => {
  const { ino, size, mtimeMs, ctimeMs, mode, uid, nlink } = statSync(path);
  return { ino, size, mtimeMs, ctimeMs, mode, uid, nlink };
};

const { place } = pairPlace(file);

describe('models of other software', () => {
  it('are served after one apply, although their declared source does not exist', async () => {
    originals = names.map(store);
    const before = originals.map(stateOf);
    const applied = await run('apply', '--yes', '--json');
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(json(applied)).toMatchObject({
      serving: names.toSorted().map((placement) => expect.objectContaining({ placement })),
    });
    expect(originals.map(stateOf)).toEqual(before);
    expect((await run('plan', '--detailed-exitcode')).code).toBe(0);
  });

  it('are no longer needed once apply has adopted them', async () => {
    for (const path of originals) rmSync(path);
    expect((await run('plan', '--detailed-exitcode')).code).toBe(0);
    expect((await run('models', 'verify', '--full')).code).toBe(0);
  });
});
