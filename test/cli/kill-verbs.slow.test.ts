import { describe, expect, it } from 'vitest';
import { sampleOf } from '../sample.ts';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { endPlace } from './fleet.ts';
import { expectEveryKillHeals, type VerbKill } from './kill/kill-verbs.ts';
import { json, meshwright } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

const apply = ['apply', '--sim', '--yes', '--update-lock', '--allow', 'interrupt'];

/** The pair, published by a gateway. */
const file = (archive = 'reference') =>
  pairFile((value) => {
    publish(value, { access: 'anybody' });
    filePart(value, 'runtimes', 'reference')['archive'] = `./dist/${archive}.tar.gz`;
  });
const env = { OWN_PASSWORD: 'simulated' };
const withPassword = ['--sim', '--yes', '--password-env', 'OWN_PASSWORD'];

/** The fingerprint of a Mac that differs from the lock. */
async function fingerprint(place: Place): Promise<string> {
  const ran = await meshwright(place, ['replace', 'studio-4', ...withPassword, '--json'], { env });
  const { nodes } = json(ran) as { readonly nodes: Readonly<Record<string, { readonly fingerprint: string }>> };
  return nodes['studio-4']?.fingerprint ?? '';
}

const replace = ['replace', 'studio-4', ...withPassword, '--expect'];

const kills: readonly VerbKill[] = [
  { name: 'launch', words: () => ['launch', 'chat', '--sim', '--yes', '--', 'sh', '-c', 'echo up'], again: apply },
  {
    name: 'drain',
    words: () => ['drain', 'chat', '--sim', '--yes'],
    undo: (run) => run('start', 'chat', '--sim', '--yes'),
    leaves: 'changes',
  },
  {
    name: 'rollback',
    words: () => ['rollback', 'reference', '--sim', '--yes'],
    setUp: async (run, place) => {
      place.write('cluster.yaml', fileText(file('newer')));
      await run(...apply);
    },
    undo: (run) => run('rollback', 'reference', '--undo', '--sim', '--yes'),
  },
  {
    name: 'rollback --undo',
    words: () => ['rollback', 'reference', '--undo', '--sim', '--yes'],
    setUp: async (run, place) => {
      place.write('cluster.yaml', fileText(file('newer')));
      await run(...apply);
    },
    begin: (run) => run('rollback', 'reference', '--sim', '--yes'),
  },
  {
    name: 'unlock',
    words: () => ['unlock', 'studio-4', '--sim', '--password-env', 'OWN_PASSWORD'],
    env,
    points: /./,
    begin: (run) => run('sim', 'fault', 'filevault-locked', 'studio-4'),
    // The restart that locked the Mac has stopped its ranks.
    undo: (run) => run(...apply),
    leaves: 'changes',
  },
  {
    name: 'enroll',
    words: () => ['enroll', 'studio-4', ...withPassword],
    env,
    points: /./,
    undo: (run) => run('sim', 'fault', '--clear'),
    begin: (run) => run('sim', 'fault', 'not-enrolled', 'studio-4'),
  },
  {
    name: 'replace',
    words: async (place) => [...replace, await fingerprint(place)],
    env,
    points: /./,
    begin: (run) => run('sim', 'fault', 'mac-replaced', 'studio-4'),
    undo: async (run, place) => {
      await run('sim', 'fault', '--clear');
      await run(...replace, await fingerprint(place));
    },
    leaves: 'changes',
  },
  {
    name: 'uninstall',
    words: () => ['uninstall', '--all', '--sim', '--restore', '--models', '--yes'],
    env,
    undo: async (run) => {
      await run('enroll', '--all', ...withPassword);
      await run(...apply);
    },
    leaves: 'changes',
  },
];

/** A rack with a serving pair. */
async function servingPlace(): Promise<Place> {
  const place = await placeWithPair(file());
  await writePublishedSources(place.folder);
  const ran = await meshwright(place, apply);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return place;
}

// Each command has a separate rack. They run in parallel, because they mostly wait for leases to expire.
describe.concurrent.each(sampleOf(kills, { few: 1, oneIn: 3 }))('$name, killed at any instant', (kill) => {
  it('is completed by the next command', { timeout: 3_600_000 }, async ({ onTestFinished }) => {
    const place = await servingPlace();
    onTestFinished(() => endPlace(place));
    await expectEveryKillHeals(place, kill);
  });
});
