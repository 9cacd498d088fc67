import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../rack/running.ts';
import { json, meshwright, type Ran } from '../meshwright.ts';
import { fileTree } from '../node-snapshot.ts';
import { type Place, processesOf } from '../place.ts';

/** A command that is killed repeatedly on a simulated rack, each time from the same state. */
export interface KilledCommand {
  /** The command, with an option if the option makes it change nodes, or change them differently. */
  readonly name: string;
  readonly words: (place: Place) => readonly string[] | Promise<readonly string[]>;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs once, first. */
  readonly setUp?: Act;
  /** Called before every run, to give the command something to do. */
  readonly begin?: Act;
  /** Called after the command: what a person does so that the next apply can make the Macs match the file. */
  readonly repair?: Act;
  /** Called after that apply: reverts the command. */
  readonly undo?: Act;
  /** Present if the command is also killed at every moment, and continued from a different computer. */
  readonly continued?: Continued;
}

interface Continued {
  /** The arguments of the command after the kill; absent: the same ones. */
  readonly again?: readonly string[];
  /**
   * The points at which it is killed; absent: each record of its journal, and each file that it replaces. Without the
   * intents of steps: they change only the journal, which a different computer does not have.
   */
  readonly points?: RegExp;
  /** `changes` if a plan finds changes after the command. */
  readonly leaves?: 'changes';
}

export type Act = (run: Typed, place: Place) => Promise<unknown>;

/** Runs a command; fails unless it exits with 0. */
export type Typed = (...words: string[]) => Promise<Ran>;

/** An upgrade that waits for the lease of a killed run and restarts Macs takes minutes on a busy machine. */
export const longestMs = 600_000;

/** Loads the hooks that kill a command. */
export const hook = `--import ${new URL('die-at.mjs', import.meta.url).href}`;

/** Runs a command; fails unless it exits with 0. */
export async function type(
  place: Place,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const ran = await meshwright(place, words, { env, longestMs });
  expect(ran.code, `${words.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

/** Runs the commands before and after the killed one, with its environment. */
export const typed =
  (place: Place, { env }: KilledCommand): Typed =>
  (...words) =>
    type(place, words, env);

/** Makes the Macs match the file. */
export const apply = ['apply', '--sim', '--yes', '--update-lock', '--allow', 'interrupt'];

/** Reverts a complete run of the command. */
export async function revert(place: Place, { repair, undo, ...command }: KilledCommand): Promise<void> {
  const run = typed(place, command);
  await repair?.(run, place);
  await run(...apply);
  await undo?.(run, place);
}

/** Runs a command, and returns its kill points in the order in which it reached them. */
async function listPoints(place: Place, act: (env: Readonly<Record<string, string>>) => Promise<Ran>) {
  const list = join(place.tmp, 'points');
  writeFileSync(list, '');
  const ran = await act({ NODE_OPTIONS: hook, MW_POINTS: list });
  const points = readFileSync(list, 'utf8').match(/.+/g) ?? [];
  rmSync(list);
  return { ran, points };
}

/** The kill points of a complete run. */
export const pointsOf = async (place: Place, words: readonly string[], { env }: KilledCommand) =>
  (await listPoints(place, (hooks) => type(place, words, { ...env, ...hooks }))).points;

/** Kills a command after a number of kill points; returns the run and the points that it reached. */
export const killAfter = (place: Place, words: readonly string[], { env }: KilledCommand, count: number) =>
  listPoints(place, (hooks) =>
    meshwright(place, words, { env: { ...env, ...hooks, MW_DIE_AFTER: String(count) }, longestMs }),
  );

interface SimulatedNode {
  readonly root: string;
  readonly power: string;
}

async function simulated(place: Place): Promise<readonly SimulatedNode[]> {
  const { nodes } = json(await meshwright(place, ['sim', 'status', '--json'])) as {
    readonly nodes: Readonly<Record<string, SimulatedNode>>;
  };
  return Object.values(nodes);
}

/** The folders of both Macs. */
export const rootsOf = async (place: Place): Promise<readonly string[]> =>
  (await simulated(place)).map(({ root }) => root);

/** Waits while a Mac shuts down or starts: it refuses connections. */
export async function settled(place: Place): Promise<void> {
  const isSettled = async () => (await simulated(place)).every(({ power }) => power === 'up' || power === 'down');
  expect(await eventually(isSettled)).toBe(true);
}

/** Waits until no script runs on a Mac, and then until no Mac shuts down or starts. */
export async function quiet(place: Place): Promise<void> {
  expect(await eventually(() => !processesOf(place).some((line) => line.endsWith('/bin/sh -s')))).toBe(true);
  await settled(place);
}

/** The names of the files on both Macs, without those that match; their contents depend on time and run. */
export function pathsOn(roots: readonly string[], passing: RegExp): readonly (readonly string[])[] {
  return roots.map((root) =>
    fileTree(root)
      .filter((line) => !passing.test(line))
      .map((line) => line.replace(/ (?:\d+)(?: [0-9a-f]{12})?$/, '')),
  );
}
