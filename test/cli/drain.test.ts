import { afterAll, beforeAll, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { endPlace } from './fleet.ts';
import { meshwright } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, [...words, '--sim']);
beforeAll(async () => {
  place = await placeWithPair(pairFile((file) => publish(file, { access: 'anybody' })));
  await writePublishedSources(place.folder);
  const ran = await run('apply', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});
afterAll(() => endPlace(place));

it('drain closes the door, says so twice, shows in doctor, keeps ask and bench, and ends with a start', {
  timeout: 120_000,
}, async () => {
  const drained = await run('drain', 'chat', '--yes');
  expect([drained.code, drained.stderr]).toEqual([0, '']);
  expect(drained.stdout.replace(/\s+/g, ' ')).toContain(
    'chat is drained: its door is closed, and nobody is inside. What opens it: meshwright start chat, or the next apply.',
  );
  const again = await run('drain', '--all');
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect(again.stdout).toContain('chat is drained');
  const looked = await run('doctor');
  expect([looked.code, looked.stdout]).toEqual([
    0,
    expect.stringContaining('gets 503: it was drained by its operator'),
  ]);
  // Both go past the door, which stays closed.
  const past = [await run('ask', 'chat', 'Hello?'), await run('bench', 'chat', '--requests', '1', '--runs', '1')];
  expect(past.map(({ code }) => code)).toEqual([0, 0]);
  expect((await run('drain', 'chat')).stdout).toContain('chat is drained');
  const started = await run('start', 'chat', '--yes');
  expect([started.code, started.stderr]).toEqual([0, '']);
  expect(started.stdout).toContain('doorman/8080/chat/door');
  expect((await run('doctor')).stdout).not.toContain('503');
});
