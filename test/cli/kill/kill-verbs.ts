import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../rack/running.ts';
import { sampleOf } from '../../sample.ts';
import { json, meshwright, type Ran } from '../meshwright.ts';
import { fileTree } from '../node-snapshot.ts';
import type { Place } from '../place.ts';

/** A command that is killed repeatedly on a simulated rack, each time from the same state. */
export interface VerbKill {
  readonly name: string;
  readonly words: (place: Place) => readonly string[] | Promise<readonly string[]>;
  /** The arguments of the command after the kill; absent: the same ones. */
  readonly again?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Runs once, first. */
  readonly setUp?: Act;
  /** Reverts a complete run; also called at the end. */
  readonly undo?: Act;
  /** Called before every run, to give the command something to do. */
  readonly begin?: Act;
  /** The points at which it is killed; absent: each record of its journal, and each file that it replaces. */
  readonly points?: RegExp;
  /** `changes` if a plan finds changes after the command. */
  readonly leaves?: 'changes';
}

type Act = (run: Typed, place: Place) => Promise<unknown>;

/** Runs a command; fails unless it exits with 0. */
export type Typed = (...words: string[]) => Promise<Ran>;

/** The computer of the next command: the same one, or one without the journal, which waits until the lease expires. */
type Successor = 'same' | 'other';

const hook = `--import ${new URL('die-at.mjs', import.meta.url).href}`;

async function type(place: Place, words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const ran = await meshwright(place, words, { env });
  expect(ran.code, `${words.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

/**
 * The names of the files on both Macs; their contents depend on time and run. A gateway writes its counts at any time.
 * If the next command has nothing to change, the lease of a killed run stays until it expires.
 */
function pathsOn(roots: readonly string[]): readonly (readonly string[])[] {
  const passing =
    /^Library\/Application Support\/meshwright\/(?:ops|log|lease|doorman\/\d+\/counts)\/|\/reboot-|\.log /;
  return roots.map((root) =>
    fileTree(root)
      .filter((line) => !passing.test(line))
      .map((line) => line.replace(/ (?:\d+)(?: [0-9a-f]{12})?$/, '')),
  );
}

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

const rootsOf = async (place: Place): Promise<readonly string[]> => (await simulated(place)).map(({ root }) => root);

const typed =
  (place: Place, { env }: VerbKill): Typed =>
  (...words) =>
    type(place, words, env);

/** The kill points of a complete run, and the files on the Macs after it. */
async function rehearse(place: Place, kill: VerbKill) {
  const list = join(place.tmp, 'points');
  const run = typed(place, kill);
  await kill.setUp?.(run, place);
  await kill.begin?.(run, place);
  const words = await kill.words(place);
  await type(place, words, { ...kill.env, NODE_OPTIONS: hook, MW_POINTS: list });
  const all = readFileSync(list, 'utf8').trimEnd().split('\n');
  rmSync(list);
  await run(...(kill.again ?? words));
  const wanted = kill.points ?? /^(?:record|file) /;
  return { points: all.filter((point) => wanted.test(point)), paths: pathsOn(await rootsOf(place)) };
}

/** A different computer has no journal of this cluster. */
function forgetJournal({ state }: Place): void {
  const journal = join(state, 'journal');
  rmSync(`${journal}-before`, { recursive: true, force: true });
  if (existsSync(journal)) renameSync(journal, `${journal}-before`);
}

/** Kills the command once, and runs the next one. */
async function killOnce(place: Place, kill: VerbKill, point: string, successor: Successor): Promise<void> {
  const run = typed(place, kill);
  await kill.undo?.(run, place);
  await kill.begin?.(run, place);
  const words = await kill.words(place);
  const killed = await meshwright(place, words, { env: { ...kill.env, NODE_OPTIONS: hook, MW_DIE_AT: point } });
  expect([point, killed.signal, killed.signal === null ? killed.stderr : '']).toEqual([point, 'SIGKILL', '']);
  if (successor === 'other') forgetJournal(place);
  // A Mac that was just unlocked refuses connections until it has started.
  const hasStarted = async () => (await simulated(place)).every(({ power }) => power !== 'starting');
  expect(await eventually(hasStarted)).toBe(true);
  const other = { NODE_OPTIONS: hook, MW_HOSTNAME: 'other-desk' };
  await type(place, kill.again ?? words, { ...kill.env, ...(successor === 'other' ? other : {}) });
}

/** Kills a command at a sample of its kill points, with both successors, and compares the Macs afterwards. */
export async function expectEveryKillHeals(place: Place, kill: VerbKill): Promise<void> {
  const run = typed(place, kill);
  const { points, paths } = await rehearse(place, kill);
  expect(points).not.toEqual([]);
  const all = points.flatMap((point) => (['same', 'other'] as const).map((successor) => ({ point, successor })));
  for (const { point, successor } of sampleOf(all, { few: 1, oneIn: 100 })) {
    await killOnce(place, kill, point, successor);
    expect([point, successor, pathsOn(await rootsOf(place))]).toEqual([point, successor, paths]);
    if (kill.leaves === undefined) await run('plan', '--sim', '--detailed-exitcode');
  }
  await kill.undo?.(run, place);
}
