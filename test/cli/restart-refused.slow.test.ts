import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { expectGolden, json, meshwright } from './meshwright.ts';
import { overRdma, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

beforeAll(async () => {
  place = await placeWithPair(pairFile(overRdma));
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  expect((await run('sim', 'fault', 'pd-leak', 'studio-4')).code).toBe(0);
});
afterAll(() => endPlace(place));

const placements = async (): Promise<unknown> =>
  (json(await run('status', '--sim', '--json')) as { placements: unknown }).placements;

describe('a placement on a Mac whose RDMA devices are full', () => {
  it('keeps serving, since neither restart nor a reboot of the other Mac stops anything', async () => {
    const rans = [await run('restart', 'chat', '--sim', '--yes'), await run('reboot', 'studio-1', '--sim', '--yes')];
    await expectGolden('restart-refused', place, rans);
    expect(await placements()).toMatchObject({ chat: { state: 'serving', generation: 1 } });
  });

  it('serves again after a reboot of both Macs', async () => {
    expect((await run('reboot', 'studio-1', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect(await placements()).toMatchObject({ chat: { state: 'serving' } });
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
  });
});
