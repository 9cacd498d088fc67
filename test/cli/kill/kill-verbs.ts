import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../rack/running.ts';
import { sampleOf } from '../../sample.ts';
import { json, meshwright, type Ran } from '../meshwright.ts';
import { fileTree } from '../node-snapshot.ts';
import type { Place } from '../place.ts';

/** A command that is killed, again and again from the same beginning, on a simulated rack. */
export interface VerbKill {
  readonly name: string;
  readonly words: (place: Place) => readonly string[] | Promise<readonly string[]>;
  /** What its operator types after the kill: the same words, unless there are others. */
  readonly again?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Once, before all of it. */
  readonly setUp?: Act;
  /** Takes back what a whole run has done; also at the end. */
  readonly undo?: Act;
  /** Before every run: makes the command have something to do. */
  readonly begin?: Act;
  /** Which instants are tried; absent: each record of its journal, and each file that it replaces. */
  readonly points?: RegExp;
  /** What a plan finds afterwards: nothing, unless it says so. */
  readonly leaves?: 'changes';
}

type Act = (run: Typed, place: Place) => Promise<unknown>;

/** Types a command; fails when it ends with anything but 0. */
export type Typed = (...words: string[]) => Promise<Ran>;

/** Who types the next command: the same computer, or one that knows nothing and waits until a lease has expired. */
type Successor = 'same' | 'other';

const hook = `--import ${new URL('die-at.mjs', import.meta.url).href}`;

async function type(place: Place, words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const ran = await meshwright(place, words, { env });
  expect(ran.code, `${words.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

/**
 * The files of both Macs by name: what is in them says when and by which run they were written. A gateway writes its
 * counts at its own pace. The lease of a run that was killed stays until it expires, where the next command has nothing to
 * change; the command after that has to get past it.
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

/** The instants of a run that nothing kills, and the files that are there after it. */
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

/** Another computer has no journal of this cluster. */
function forgetJournal({ state }: Place): void {
  const journal = join(state, 'journal');
  rmSync(`${journal}-before`, { recursive: true, force: true });
  if (existsSync(journal)) renameSync(journal, `${journal}-before`);
}

/** Kills once, and types the next command. */
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

/** Kills a command at a share of its instants, each with both who may come next, and compares the Macs afterwards. */
export async function expectEveryKillHeals(place: Place, kill: VerbKill): Promise<void> {
  const run = typed(place, kill);
  const { points, paths } = await rehearse(place, kill);
  expect(points).not.toEqual([]);
  const all = points.flatMap((point) => (['same', 'other'] as const).map((successor) => ({ point, successor })));
  for (const { point, successor } of sampleOf(all, { few: 1, oneIn: 6 })) {
    await killOnce(place, kill, point, successor);
    expect([point, successor, pathsOn(await rootsOf(place))]).toEqual([point, successor, paths]);
    if (kill.leaves === undefined) await run('plan', '--sim', '--detailed-exitcode');
  }
  await kill.undo?.(run, place);
}
