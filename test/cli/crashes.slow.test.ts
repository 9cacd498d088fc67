import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../rack/running.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { keepersAtRest } from './keepers.ts';
import { expectGolden, json, meshwright } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

beforeAll(async () => {
  place = await placeWithPair(pairFile());
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
});
afterAll(() => endPlace(place));

const troubles = async (): Promise<readonly string[]> => {
  const found = json(await run('doctor', '--sim', '--json')) as {
    readonly troubles: readonly { readonly code: string; readonly subject: string }[];
  };
  return found.troubles.map(({ code, subject }) => `${code} ${subject}`);
};

/** Everything serves again, and nothing is left to do. */
async function expectWhole(): Promise<void> {
  const ran = await run('apply', '--sim', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect((await run('ask', 'chat', 'Hello', '--sim')).code).toBe(0);
}

describe('a Mac that panics', () => {
  it('is there again by itself, status says what went down with it, and apply starts that again', async () => {
    await run('sim', 'fault', 'crash', 'studio-4');
    await keepersAtRest(place);
    const seen = await run('status', '--sim');
    await expectGolden('status-after-crash', place, [seen]);
    expect(await troubles()).toContain('macos/panicked node studio-4');
    await expectWhole();
    expect(await troubles()).toEqual(['macos/panicked node studio-4']);
  });

  it('because of TCP over its cables does so when a placement answers, and is suspected of it', async () => {
    await run('sim', 'fault', 'tcp-load-panic', 'studio-4');
    expect((await run('ask', 'chat', 'Hello', '--sim')).code).not.toBe(0);
    const suspicion = 'network/suspected-tcp-panic node studio-4';
    expect(await eventually(async () => (await troubles()).includes(suspicion))).toBe(true);
    await run('sim', 'fault', '--clear', 'tcp-load-panic');
    await expectWhole();
  });
});

describe('a Mac whose current is gone', () => {
  it('is not reached, its button does nothing, and it comes back with the current', async () => {
    await run('sim', 'fault', 'power-cut', 'studio-1');
    expect(await troubles()).toContain('ssh/refused node studio-1');
    const pressed = await run('sim', 'power-on', 'studio-1');
    await expectGolden('power-on-without-current', place, [pressed]);
    await run('sim', 'fault', '--clear', 'power-cut');
    await expectWhole();
  });

  it('stays off where pmset does not start it again, until somebody presses its button', async () => {
    const set = await run('exec', '--sim', 'studio-1', '--', 'sudo', '-n', 'pmset', '-a', 'autorestart', '0');
    expect([set.code, set.stderr]).toEqual([0, '']);
    await run('sim', 'fault', 'power-cut', 'studio-1');
    await run('sim', 'fault', '--clear', 'power-cut');
    expect(await troubles()).toContain('ssh/refused node studio-1');
    expect((await run('sim', 'power-on', 'studio-1')).code).toBe(0);
    await expectWhole();
  });
});
