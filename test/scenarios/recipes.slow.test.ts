import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { endPlace } from '../cli/fleet.ts';
import { json, meshwright } from '../cli/meshwright.ts';
import { makePlace, type Place } from '../cli/place.ts';
import { sampleOf } from '../sample.ts';

const examples = [
  'cluster.example.yaml',
  ...readdirSync('examples')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `examples/${name}`),
];

let place: Place | undefined;
afterEach(async () => {
  await endPlace(place);
  place = undefined;
});

describe('an example copied on its own into an empty folder', () => {
  it.each(sampleOf(examples, { few: 1, oneIn: 6 }))('serves on a simulated rack after one apply: %s', async (path) => {
    place = makePlace();
    const rack = place;
    const text = readFileSync(path, 'utf8');
    rack.write('cluster.yaml', text);
    const run = (...words: string[]) => meshwright(rack, words);
    expect((await run('sim', 'up')).code).toBe(0);
    const applied = await run('apply', '--sim', '--yes');
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('nothing left to do')]);

    const { placements } = parse(text) as { placements: Readonly<Record<string, unknown>> };
    const names = Object.keys(placements);
    expect(names).not.toEqual([]);
    for (const name of names) {
      const asked = json(await run('ask', name, 'Which Macs are you?', '--sim', '--json'));
      expect(asked).toMatchObject({ answer: expect.stringMatching(/\S/) });
    }
    const again = json(await run('plan', '--sim', '--json'));
    expect(again).toMatchObject({ changes: [], blockers: [] });
  });
});
