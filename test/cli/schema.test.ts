import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { codesOf, ended, json, mainFile, meshwright, runWith } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
afterAll(() => place.remove());

const folder = fileURLToPath(new URL('../../schemas', import.meta.url));
const names = readdirSync(folder)
  .map((file) => file.replace('.schema.json', ''))
  .sort();

describe('schema', () => {
  it.each(names)("prints the package's schema %s, which is valid", async (name) => {
    const ran = await meshwright(place, ['schema', name]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toBe(readFileSync(join(folder, `${name}.schema.json`), 'utf8'));
    expect(() => schemaCheck(name)).not.toThrow();
  });

  it('prints the cluster file schema if no name is given', async () => {
    const [unnamed, named] = await Promise.all([
      meshwright(place, ['schema']),
      meshwright(place, ['schema', 'cluster']),
    ]);
    expect(unnamed.stdout).toBe(named.stdout);
  });

  it('lists all schemas in its help', () => {
    const more = verbs.find((verb) => verb.name === 'schema')?.more?.replaceAll(/\s+/g, ' ');
    expect(more).toBe(`Names: ${names.join(', ')}`);
  });
});

describe('a broken installation', () => {
  it('is reported as a bug with exit code 70, without a bare stack trace', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mw-broken-')));
    const own = dirname(dirname(dirname(mainFile)));
    cpSync(join(own, 'dist'), join(root, 'dist'), { recursive: true });
    cpSync(join(own, 'package.json'), join(root, 'package.json'));
    symlinkSync(join(own, 'node_modules'), join(root, 'node_modules'));
    const main = join(root, 'dist', 'cli', 'main.js');
    const [text, asJson] = await Promise.all([
      ended(runWith(main, place, ['schema']), []),
      ended(runWith(main, place, ['schema', '--json']), []),
    ]);
    rmSync(root, { recursive: true, force: true });
    expect([text.code, text.stdout]).toEqual([70, '']);
    expect(text.stderr).toMatch(/^error {2}internal\/bug\n {2}This is a bug in meshwright\.\n/);
    expect([asJson.code, codesOf(json(asJson)), asJson.stderr]).toEqual([70, ['internal/bug'], '']);
  });
});
