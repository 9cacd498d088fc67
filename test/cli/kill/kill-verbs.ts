import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sampleOf } from '../../sample.ts';
import { meshwright } from '../meshwright.ts';
import type { Place } from '../place.ts';
import {
  hook,
  type KilledCommand,
  longestMs,
  pathsOn,
  pointsOf,
  revert,
  rootsOf,
  settled,
  type,
  typed,
} from './killed-command.ts';

/** If the next command has nothing to change, the lease of a killed run stays until it expires. */
const passing =
  /^Library\/Application Support\/meshwright\/(?:ops|log|lease|gateway\/\d+\/counts)\/|\/ops\/reboot-|\.log /;

/** The kill points of a complete run, and the files on the Macs after it. */
async function rehearse(place: Place, command: KilledCommand) {
  const run = typed(place, command);
  await command.setUp?.(run, place);
  await command.begin?.(run, place);
  const words = await command.words(place);
  const all = await pointsOf(place, words, command);
  await run(...(command.continued?.again ?? words));
  const wanted = command.continued?.points ?? /^(?:record (?!intent )|file )/;
  return { points: all.filter((point) => wanted.test(point)), paths: pathsOn(await rootsOf(place), passing) };
}

/** A different computer has no journal of this cluster. */
function forgetJournal({ state }: Place): void {
  const journal = join(state, 'journal');
  rmSync(`${journal}-before`, { recursive: true, force: true });
  if (existsSync(journal)) renameSync(journal, `${journal}-before`);
}

/** Kills the command once, and runs the next one on a different computer, which waits until the lease expires. */
async function killOnce(place: Place, command: KilledCommand, point: string): Promise<void> {
  const { begin, undo, env, continued } = command;
  // The Macs match the file unless the command leaves changes.
  await (continued?.leaves === undefined ? undo?.(typed(place, command), place) : revert(place, command));
  await begin?.(typed(place, command), place);
  const words = await command.words(place);
  const killed = await meshwright(place, words, { env: { ...env, NODE_OPTIONS: hook, MW_DIE_AT: point }, longestMs });
  expect([point, killed.signal, killed.signal === null ? killed.stderr : '']).toEqual([point, 'SIGKILL', '']);
  forgetJournal(place);
  await settled(place);
  await type(place, continued?.again ?? words, { ...env, NODE_OPTIONS: hook, MW_HOSTNAME: 'other-desk' });
}

/** Kills a command at a sample of its kill points, continues on a different computer, and compares the Macs afterwards. */
export async function expectEveryKillHeals(place: Place, command: KilledCommand): Promise<void> {
  const run = typed(place, command);
  const { points, paths } = await rehearse(place, command);
  expect(points).not.toEqual([]);
  for (const point of sampleOf(points, { few: 1, oneIn: 50 })) {
    await killOnce(place, command, point);
    expect([point, pathsOn(await rootsOf(place), passing)]).toEqual([point, paths]);
    if (command.continued?.leaves === undefined) await run('plan', '--sim', '--detailed-exitcode');
  }
  await revert(place, command);
}
