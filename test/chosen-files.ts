/** Chooses the files of slow tests that run in CI, and in each part of the night (docs/testing.md). */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { partCount } from './sample.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The parts of `npm run nightly` that run tests. A file belongs to the first part whose pattern matches. */
export const nightParts = {
  properties: /^test\/property\//,
  namespaces: /^test\/namespace\//,
  kills: /^test\/scenarios\/(?:kill|cut)-/,
  moments: /^test\/cli\/kill-verbs/,
  verbs: /^test\/cli\/kill-/,
  follower: /^test\/cli\/blind-follower/,
  skeletons: /^test\/cli\/skeletons/,
  recover: /^test\/cli\/recover/,
  commands: /^test\/cli\//,
  scenarios: /^test\/scenarios\//,
  scripts: /^test\//,
} as const;

const partOfNight = (path: string): string | undefined =>
  Object.entries(nightParts).find(([, pattern]) => pattern.test(path))?.[0];

/** Slow tests: they take many seconds, run all node scripts, wait for deadlines, or check the gates themselves. */
export const isSlow = (path: string): boolean => path.endsWith('.slow.test.ts');

/** Sampled tests: `npm test` tries a few cases, CI a larger share, and the night all. */
export const isSampled = (path: string): boolean => path.endsWith('.sampled.test.ts');

/** A row of the table in docs/nightly.md: the last run of a part. */
export interface NightRow {
  readonly part: string;
  readonly hasPassed: boolean;
  readonly commit: string;
  readonly line: string;
}

/** The rows in the text of docs/nightly.md. */
export const nightRows = (text: string): readonly NightRow[] =>
  [...text.matchAll(/^\| (\w+) \| (\S+) \| [\d-]+, commit (\w+),.*$/gm)].map(
    ([line, part = '', verdict, commit = '']) => ({ part, hasPassed: verdict === 'passed', commit, line }),
  );

const ageLimits = { warning: 400, failure: 1_000 };

/** What is wrong with the last run of a part; undefined if nothing is. The age counts commits. */
export function nightFinding(part: string, rows: readonly NightRow[], ageOf: (commit: string) => number | undefined) {
  const row = rows.find((one) => one.part === part);
  if (row === undefined) return { isFailure: true, text: `${part} has never run` };
  if (!row.hasPassed) return { isFailure: true, text: `${part} failed at commit ${row.commit}` };
  const age = ageOf(row.commit);
  if (age === undefined) return { isFailure: false, text: `${part} ran at ${row.commit}, which this clone lacks` };
  if (age < ageLimits.warning) return undefined;
  return {
    isFailure: age >= ageLimits.failure,
    text: `${part} ran ${age} commits ago; at ${ageLimits.failure} this gate fails`,
  };
}

/** The output of a git command; undefined without git, or in a clone that lacks the commit. */
export function git(...words: readonly string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** Tests of Macs in namespaces and of the real mlx-lm that every run of CI includes. */
const always = /^test\/(?:namespace\/(?:same-facts|converge|keeper|mlx-real)\.|mlx\/)/;

/** The names that a path is found by: those of its folders and of its file. */
const namesOf = (path: string): readonly string[] => path.replace(/\..*/, '').split('/').slice(1);

/**
 * Whether a test and a source belong together: the test imports the source, or the source has the first words of the
 * test's name, as `src/rack/keeper/rule.ts` and `keeper-refused.slow.test.ts`, or both are of the native parts.
 */
export function isNear(test: string, text: string, source: string): boolean {
  const words = basename(test).replace(/\..*/, '').split('-');
  const names = words.map((_, at) => words.slice(0, at + 1).join('-'));
  return (
    (test.startsWith('test/native/') && source.startsWith('native/')) ||
    namesOf(source).some((name) => names.includes(name)) ||
    [...text.matchAll(/^(?:import (?!type )|\} from).*'(?:\.\.\/)+(src\/[^']+)'/gm)].some(([, path]) => path === source)
  );
}

/** With this start value of the hash, the parts take about the same time. */
const balanced = 35_965;

/** The fixed part of a file, by a hash of its path, so that a new file moves no other one. */
const partOf = (path: string): number =>
  ([...path].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0, balanced) >>> 16) %
  partCount;

interface CiChoice {
  /** The number of commits up to this one. */
  readonly position: number;
  readonly rows: readonly NightRow[];
  /** The files that differ from a commit; undefined if this clone lacks it. */
  readonly changedSince: (commit: string) => readonly string[] | undefined;
}

/** More would take CI above its CPU minutes; they take turns after a change of everything. */
const mostChanged = 10;

/**
 * The files that CI runs: one part of four, by the position of the commit, and files that changed, or whose nearest
 * source changed, since their part of the night last passed.
 */
export function filesForCi(files: readonly string[], { position, rows, changedSince }: CiChoice): readonly string[] {
  const changedByPart = new Map(
    rows.filter(({ hasPassed }) => hasPassed).map(({ part, commit }) => [part, changedSince(commit) ?? []] as const),
  );
  const hasChanged = (path: string): boolean => {
    const changed = changedByPart.get(partOfNight(path) ?? '') ?? [];
    if (changed.includes(path)) return true;
    const text = readFileSync(join(root, path), 'utf8');
    return changed.some((source) => /^(?:src|native)\//.test(source) && isNear(path, text, source));
  };
  const isInTurn = (path: string): boolean => partOf(path) === position % partCount || always.test(path);
  const changed = files.filter((path) => !isInTurn(path) && hasChanged(path));
  const turns = Math.ceil(changed.length / mostChanged);
  const chosen = new Set(changed.filter((_, at) => at % turns === Math.floor(position / partCount) % turns));
  return files.filter((path) => isInTurn(path) || chosen.has(path));
}

/** The files that differ from a commit, in the working tree too; undefined if the clone lacks the commit. */
export const changedSince = (commit: string): readonly string[] | undefined =>
  git('diff', '--name-only', commit)?.split('\n');

/** All test files, as sorted paths that begin with `test/`. */
export const testFiles = (): readonly string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path.split(sep).join('/')}`)
    .sort();

/** The files of a part of the night: all slow and sampled ones, and all with Macs in namespaces. */
export const filesOfNight = (part: string): readonly string[] =>
  testFiles().filter(
    (path) => partOfNight(path) === part && (isSlow(path) || isSampled(path) || nightParts.namespaces.test(path)),
  );
