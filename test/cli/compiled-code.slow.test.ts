import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mainFile } from './meshwright.ts';
import { makePlace } from './place.ts';

const root = join(import.meta.dirname, '../..');

/** A fresh copy of the built command, and a way to run it on the example. */
function installed() {
  const place = makePlace();
  onTestFinished(() => place.remove());
  const cli = join(place.folder, 'package/dist/cli');
  cpSync(dirname(mainFile), cli, { recursive: true, filter: (path) => !path.includes('/compiled') });
  for (const name of ['package.json', 'schemas']) symlinkSync(join(root, name), join(place.folder, 'package', name));
  const run = () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(cli, 'main.js'), 'validate', join(root, 'cluster.example.yaml')],
      { encoding: 'utf8', env: place.env, cwd: place.folder },
    );
    return { status, stdout, stderr };
  };
  const kept = () => {
    const folder = join(cli, 'compiled', `${process.version}-${process.arch}`);
    return readdirSync(folder).map((name) => join(folder, name));
  };
  return { cli, run, kept };
}

describe("the command's code cache", () => {
  it('is written once and reused unchanged', () => {
    const { run, kept } = installed();
    const first = run();
    expect(first.status).toBe(0);
    const files = kept();
    expect(files.some((file) => file.includes('/trust-'))).toBe(true);
    expect(files.filter((file) => !file.endsWith('.js'))).toEqual([]);
    const written = files.map((file) => statSync(file).mtimeMs);
    expect(run()).toEqual(first);
    expect(kept().map((file) => statSync(file).mtimeMs)).toEqual(written);
  });

  it('is rewritten if V8 rejects a cached file', () => {
    const { run, kept } = installed();
    const first = run();
    const [file = ''] = kept();
    const size = statSync(file).size;
    for (const damaged of [Buffer.alloc(0), Buffer.alloc(size, 'x'), readFileSync(file).subarray(0, size - 8)]) {
      writeFileSync(file, damaged);
      expect(run()).toEqual(first);
      expect(readFileSync(file).equals(damaged)).toBe(false);
    }
  });

  it('is skipped if its folder is not writable', () => {
    const { cli, run } = installed();
    writeFileSync(join(cli, 'compiled'), 'no folder');
    expect(run().status).toBe(0);
  });

  it.runIf(process.getuid?.() === 0)('is not written when root runs a package that belongs to another account', () => {
    const { cli, run } = installed();
    chownSync(cli, 65534, 65534);
    expect(run().status).toBe(0);
    expect(readdirSync(cli)).not.toContain('compiled');
  });

  it('relies on a bundle without import(), which Node rejects in cached code', () => {
    const { cli } = installed();
    const texts = readdirSync(cli).map((name) => (name.endsWith('.js') ? readFileSync(join(cli, name), 'utf8') : ''));
    expect(texts.some((text) => text.includes('require("ssh2")'))).toBe(true);
    expect(texts.flatMap((text) => text.match(/(?<![\w.$])import\(/g) ?? [])).toEqual([]);
  });
});
