import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endPlace } from './fleet.ts';
import { json, meshwright } from './meshwright.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

beforeAll(async () => {
  place = makePlace();
  rmSync(join(place.folder, 'cluster.yaml'), { force: true });
  expect((await run('sim', 'example', '.', '--runtime', 'llamacpp', '--published')).code).toBe(0);
  expect((await run('sim', 'up')).code).toBe(0);
});
afterAll(() => endPlace(place));

describe('a simulated rack without the archives named in its file', () => {
  it('serves with doubles of llama.cpp and Node, and commands list them', async () => {
    const applied = await run('apply', '--sim', '--yes');
    expect([applied.code, applied.stderr]).toEqual([
      0,
      expect.stringContaining('simulated: double of llama.cpp b10950:'),
    ]);
    const status = await run('status', '--sim');
    expect(status.stderr).toContain('simulated: double of Node 22.22.0:');
    const document = json(await run('status', '--sim', '--json'));
    expect(document).toMatchObject({ placements: { chat: { state: 'serving' } } });
  });

  it('has no drift afterwards', async () => {
    const { stdout, code } = await run('drift', '--sim');
    expect([code, stdout]).toEqual([0, expect.stringContaining('No drift')]);
  });

  it('lists each double once when the rack starts from scratch', async () => {
    const up = await run('sim', 'up', '--fresh');
    expect([up.code, up.stderr.match(/double of [\w.]+/g)]).toEqual([0, ['double of llama.cpp', 'double of Node']]);
  });
});
