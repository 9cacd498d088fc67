import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { drawsBy } from '../../property/mutations.ts';
import { eventually } from '../../rack/running.ts';
import type { Place } from '../place.ts';
import {
  apply,
  type KilledCommand,
  killAfter,
  pathsOn,
  pointsOf,
  revert,
  rootsOf,
  settled,
  typed,
} from './killed-command.ts';

/**
 * A gateway writes its counts, and a keeper the time of its last round, at any time. The last network change of a Mac may
 * have been confirmed or rolled back.
 */
const passing =
  /^Library\/Application Support\/meshwright\/(?:log\/|gateway\/\d+\/counts\/|keeper\/last |transaction\/(?:confirmed|rolled)\/)|\/ops\/reboot-|\.log /;

/** Kills a run; a run that ends before its kill point may fail, because the run before it did half of the work. */
async function kill(place: Place, words: readonly string[], command: KilledCommand, count: number): Promise<string> {
  const { ran, points } = await killAfter(place, words, command, count);
  const isKilled = ran.signal === 'SIGKILL' && points.length === count;
  // Null: the run hung.
  if (!isKilled) expect([null, 70], `${words.join(' ')}\n${ran.stderr}`).not.toContain(ran.code);
  await settled(place);
  return isKilled ? `killed after ${count}: ${points.at(-1)}` : `complete, with exit code ${ran.code}`;
}

/** The files on both Macs, and the folders of programs that a command runs. */
const filesOn = (roots: readonly string[]) => [
  ...pathsOn(roots, passing),
  ...roots.map((root) => readdirSync(join(root, 'private/tmp')).filter((name) => name.startsWith('meshwright-'))),
];

/** Does what a person does after the kills; fails unless the Macs then match the cluster file and have these files. */
async function expectHealed(place: Place, command: KilledCommand, files: unknown): Promise<void> {
  const run = typed(place, command);
  const roots = await rootsOf(place);
  await command.repair?.(run, place);
  await run(...apply);
  await run('plan', '--sim', '--detailed-exitcode');
  // If apply had nothing to change, the lease of a killed run is left. The lease of a live run is not released.
  await run('lease', 'release', '--all', '--sim', '--yes');
  await command.undo?.(run, place);
  // A script of a killed run may still be running on a Mac that needed no change.
  await eventually(() => isDeepStrictEqual(filesOn(roots), files));
  expect(filesOn(roots)).toEqual(files);
}

/**
 * Kills a command twice in a row, each time at a moment that follows from the seed. Then an apply must converge, and the
 * Macs must have the same files as after a complete run, so no lease, job, prepared tree or mark of the killed runs.
 */
export async function expectTwoKillsHeal(
  place: Place,
  command: KilledCommand,
  { draws, seed }: { readonly draws: number; readonly seed: number },
): Promise<void> {
  const run = typed(place, command);
  const below = drawsBy(seed);
  await command.setUp?.(run, place);
  await command.begin?.(run, place);
  const { length } = await pointsOf(place, await command.words(place), command);
  await revert(place, command);
  const files = filesOn(await rootsOf(place));
  for (let draw = 1; draw <= draws; draw += 1) {
    await command.begin?.(run, place);
    const words = await command.words(place);
    const count = 1 + below(length);
    const first = await kill(place, words, command, count);
    // The second run has about as many kill points as the first one had left.
    const second = await kill(place, words, command, 1 + below(length - count + 1));
    await expectHealed(place, command, files).catch((cause: unknown) => {
      throw new Error(`the first run was ${first}; the second one was ${second}`, { cause });
    });
  }
}
