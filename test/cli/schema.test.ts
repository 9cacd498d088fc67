import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { meshwright, meshwrightHere } from './meshwright.ts';
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
    const ran = await meshwrightHere(place, ['schema', name]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toBe(readFileSync(join(folder, `${name}.schema.json`), 'utf8'));
    expect(() => schemaCheck(name)).not.toThrow();
  });

  it('prints the cluster file schema if no name is given', async () => {
    const [unnamed, named] = await Promise.all([
      meshwright(place, ['schema']),
      meshwrightHere(place, ['schema', 'cluster']),
    ]);
    expect(unnamed.stdout).toBe(named.stdout);
  });

  it('lists all schemas in its help', () => {
    const more = verbs.find((verb) => verb.name === 'schema')?.more?.replaceAll(/\s+/g, ' ');
    expect(more).toBe(`Names: ${names.join(', ')}`);
  });
});
