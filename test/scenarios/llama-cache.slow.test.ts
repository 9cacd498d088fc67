import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cacheProgram } from '../../src/drivers/llamacpp/configure.ts';
import { fnv1a64 } from '../../src/native/fnv.ts';
import { cachedShape, meshAnswer, soloAnswer, startWorker } from '../llama/local-llama.ts';
import { findLlamaPackages, llamaPackages } from '../llama/packages.ts';
import { sharedFolder } from '../rack/kept-running.ts';
import { writeTinyGguf } from '../tiny-models.ts';

const found = findLlamaPackages();
const folder = sharedFolder('mw-cache-');
beforeAll(async () => {
  await writeFile(join(folder, 'verify.pl'), cacheProgram);
  await writeFile(join(folder, 'worker'), '#!/bin/sh\nprintf "worker %s\\n" "$*"\n');
  await chmod(join(folder, 'worker'), 0o755);
});

const digestOfModel = 'a'.repeat(64);

/** Runs the program before a worker that only prints its arguments; returns the lines of both, sorted. */
function verify(cache: string, model = digestOfModel): readonly string[] {
  const words = [join(folder, 'verify.pl'), cache, model, join(folder, 'worker'), '--host', '10.77.0.2'];
  return execFileSync('perl', words, { encoding: 'utf8' }).trim().split('\n').sort();
}

/** A cache with these contents under the names of their hashes. */
async function cacheOf(name: string, contents: readonly Uint8Array[]): Promise<string> {
  const cache = join(folder, name);
  await mkdir(join(cache, 'rpc'), { recursive: true });
  await writeFile(join(cache, 'model'), digestOfModel);
  for (const content of contents) await writeFile(join(cache, 'rpc', fnv1a64(content)), content);
  return cache;
}

const namesIn = (cache: string): Promise<string[]> => readdir(join(cache, 'rpc'));

describe("a worker's cache", () => {
  it('keeps files that match their names and removes all others before the worker starts', async () => {
    const contents = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 70_000 }), { seed: 7, numRuns: 30 });
    const cache = await cacheOf('mixed', contents);
    const names = await namesIn(cache);
    const [broken = '', cut = ''] = names;
    await writeFile(
      join(cache, 'rpc', broken),
      Buffer.concat([await readFile(join(cache, 'rpc', broken)), Buffer.of(0)]),
    );
    await writeFile(join(cache, 'rpc', cut), '');
    await writeFile(join(cache, 'rpc', 'stranger'), 'x');
    const lines = verify(cache);
    expect(lines.filter((line) => line.includes('was not'))).toEqual(
      [broken, cut, 'stranger'].map((name) => `meshwright: cached tensor ${name} was not what its name says`).sort(),
    );
    expect(lines.filter((line) => line.includes(' is what'))).toHaveLength(names.length - 2);
    expect(lines.at(-1)).toBe('worker --host 10.77.0.2');
    expect((await namesIn(cache)).sort()).toEqual(names.filter((name) => name !== broken && name !== cut).sort());
    expect(verify(cache).some((line) => line.includes('was not'))).toBe(false);
  });

  describe('with a native probe next to the program', () => {
    const packed = () => join(folder, 'meshwright-probe.base64');
    const pack = (script: string) => writeFile(packed(), Buffer.from(`#!/bin/sh\n${script}\n`).toString('base64'));
    afterEach(() => rm(packed(), { force: true }));

    it('asks the probe, which leaves nothing behind', async () => {
      const cache = await cacheOf('asked', [Buffer.from('a tensor')]);
      const [name = ''] = await namesIn(cache);
      const calls = join(folder, 'calls');
      // Perl would call this content wrong, so only the probe can have said that it is right.
      await writeFile(join(cache, 'rpc', name), 'something else');
      await pack(`echo "$*" >>'${calls}'; echo "\${2##*/}  $2"`);
      expect(verify(cache)).toEqual([
        `meshwright: cached tensor ${name} is what its name says`,
        'worker --host 10.77.0.2',
      ]);
      expect(await readFile(calls, 'utf8')).toBe(`fnv ${cache}/rpc/${name}\n`);
      expect((await readdir(cache)).sort()).toEqual(['model', 'rpc']);
    });

    it.each([
      ['fails after its answer', 'echo "${2##*/}  $2"; exit 1'],
      ['gives another hash', 'echo "0000000000000000  $2"'],
      ['says more', 'echo "${2##*/}  $2"; echo more'],
      ['dies', 'kill -9 $$'],
      ['is no program', '\0'],
    ])('verifies the files itself if the probe %s', async (how, script) => {
      const cache = await cacheOf(how.replaceAll(' ', '-'), [Buffer.from('right'), Buffer.from('wrong')]);
      const wrong = fnv1a64(Buffer.from('wrong'));
      await writeFile(join(cache, 'rpc', wrong), 'changed');
      if (how === 'is no program') await writeFile(packed(), 'AAAA');
      else await pack(script);
      expect(verify(cache).filter((line) => line.startsWith('meshwright'))).toEqual(
        [
          `meshwright: cached tensor ${fnv1a64(Buffer.from('right'))} is what its name says`,
          `meshwright: cached tensor ${wrong} was not what its name says`,
        ].sort(),
      );
    });
  });

  it('is emptied for a different model, and need not exist yet', async () => {
    const cache = await cacheOf('other', [Buffer.from('a tensor')]);
    expect(verify(cache, 'b'.repeat(64))).toEqual(['worker --host 10.77.0.2']);
    expect(await namesIn(cache)).toEqual([]);
    await mkdir(join(folder, 'fresh'));
    expect(verify(join(folder, 'fresh'))).toEqual(['worker --host 10.77.0.2']);
  });
});

describe.skipIf(found.kind === 'missing')("a real worker's cache", () => {
  it('names tensors by their hash and silently uses a changed tensor unless it is verified', async () => {
    const packages = llamaPackages(found);
    const model = join(folder, 'model.gguf');
    await writeTinyGguf(model, cachedShape);
    const golden = await soloAnswer(packages, model, ['--ctx-size', '512', '--parallel', '1']);
    const cache = join(folder, 'real');
    await mkdir(cache);
    const ask = async (): Promise<string> => {
      const worker = await startWorker(packages, { cacheFolder: cache });
      try {
        return await meshAnswer(packages, model, [worker.port]);
      } finally {
        await worker.stop();
      }
    };
    verify(cache);
    expect(await ask()).toBe(golden);
    const names = await namesIn(cache);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(fnv1a64(await readFile(join(cache, 'rpc', name)))).toBe(name);
    const [changed = ''] = names;
    const content = await readFile(join(cache, 'rpc', changed));
    content.fill(0x3c, 0, content.length / 2);
    await writeFile(join(cache, 'rpc', changed), content);
    expect(await ask()).not.toBe(golden);
    expect(verify(cache)).toContain(`meshwright: cached tensor ${changed} was not what its name says`);
    expect(await ask()).toBe(golden);
    expect((await namesIn(cache)).sort()).toEqual(names.sort());
  });
});
