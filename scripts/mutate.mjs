/**
 * `npm run mutate -- [--count 150] [--seed N] [--limit 400] [--jobs 1] [--results FILE]`: measures how many small faults
 * in the sources the tests detect (docs/nightly.md). Draws mutants of HEAD from all of `src` except `src/sim`, and tries
 * each with the nearest tests for at most `--limit` seconds. `--results FILE` continues an interrupted run, or counts a
 * finished one again. Exits with 1 if a bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasScript } from './layers.cjs';
import { makeCompiles, makeCopy, removeCopy, runTests } from './mutate/copy.mjs';
import { drawnFiles, drawnMutants } from './mutate/draw.mjs';
import { mutantsOf, mutated, placeOf } from './mutate/operators.mjs';
import { filesOf, relatedTests } from './mutate/related.mjs';
import { openResults, report } from './mutate/results.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const text = (value) => ({ type: 'string', default: value });
const settings = { count: text('150'), limit: text('400'), jobs: text('1'), seed: text(`${randomInt(1e6)}`) };
const { values: options } = parseArgs({ options: { ...settings, results: text('') } });
const [count, limit, jobs] = ['count', 'limit', 'jobs'].map((name) => {
  const value = Number(options[name]);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name} must be a positive integer`);
});

const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: project, encoding: 'utf8' }).stdout.trim();
const path = options.results || join(tmpdir(), `meshwright-mutants-${commit.slice(0, 7)}-${options.seed}.jsonl`);
const { run, results } = openResults(path, { commit, seed: options.seed, count });
const title = `commit ${run.commit.slice(0, 7)}, seed ${run.seed}, ${run.count} mutants`;
process.stdout.write(`${title}, results in ${path}\n`);

/** Test files that pass without a mutant, and those that fail. Only a failure of the former is meaningful. */
const sound = new Set();
const broken = new Set();

const workers = Math.max(1, Math.floor(availableParallelism() / jobs));
const test = (copy, files, seconds, change) =>
  runTests(copy, files, { limitMs: seconds * 1_000, workers, commit: run.commit }, change);

/** Whether the files pass without a mutant. Those that fail are skipped from now on. */
async function areSound(copy, files, { file }) {
  if (files.every((one) => sound.has(one))) return true;
  const { outcome } = await test(copy, files, limit, { file });
  for (const one of files) (outcome === 'passed' ? sound : broken).add(one);
  return outcome === 'passed';
}

/**
 * Runs one wave of tests with a mutant. If a failure proves nothing, the wave runs again without the failing files. A
 * run that does not finish kills a mutant only if the same tests finish without the mutant in a quarter of the time.
 */
async function tryWave(copy, wave, change, secondsLeft) {
  const files = wave.filter((one) => !broken.has(one));
  if (files.length === 0) return { verdict: 'survived', seconds: 0 };
  const { outcome, seconds, failed } = await test(copy, files, secondsLeft, change);
  if (outcome === 'passed') return { verdict: 'survived', seconds };
  if (outcome === 'late') {
    const clean = await test(copy, files, secondsLeft / 4, { file: change.file });
    if (clean.outcome !== 'passed') return { verdict: 'timed out', seconds };
    return { verdict: 'killed', by: 'a run that does not finish', seconds };
  }
  const suspects = failed.length > 0 ? failed : files;
  if (await areSound(copy, suspects, change)) return { verdict: 'killed', by: suspects[0], seconds };
  const again = await tryWave(copy, wave, change, secondsLeft);
  return { ...again, seconds: seconds + again.seconds };
}

/** The verdict on one mutant, after all waves of tests or the first that kills it. */
async function verdictOf(copy, waves, change) {
  let tried = { verdict: 'survived' };
  let seconds = 0;
  for (const wave of waves) {
    tried = await tryWave(copy, wave, change, Math.max(1, limit - seconds));
    seconds += tried.seconds;
    if (tried.verdict !== 'survived') break;
  }
  return { ...tried, seconds: Math.round(seconds) };
}

/** Draws the mutants without a result: of each drawn file, the first drawn mutant that compiles. */
function* missingMutants(root) {
  const files = filesOf(root, 'src').filter((file) => !/^src\/sim\/|\.generated\.ts$/.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const mutantsIn = (file) => mutantsOf(file, texts.get(file), hasScript(file));
  const compiles = makeCompiles(root);
  const known = new Set(results.map(({ file }) => file));
  let left = run.count - known.size;
  for (const file of drawnFiles(run.seed, files, (one) => mutantsIn(one).length)) {
    for (const mutant of known.has(file) ? [] : drawnMutants(run.seed, file, mutantsIn(file))) {
      const text = mutated(texts.get(file), mutant);
      if (!compiles(file, text)) continue;
      yield { mutant: { file, ...placeOf(texts.get(file), mutant), ...mutant }, text };
      left -= 1;
      break;
    }
    if (left === 0) return;
  }
}

async function tryMutants() {
  const copies = [];
  process.on('exit', () => copies.forEach(removeCopy));
  const stop = () => {
    process.stdout.write(`\nInterrupted. To continue: npm run mutate -- --results ${path}\n`);
    process.exit(130);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  while (copies.length < jobs) copies.push(makeCopy(project, run.commit));
  const testsFor = relatedTests(copies[0].root);
  const mutants = missingMutants(copies[0].root);
  const work = async (copy) => {
    for (const { mutant, text } of mutants) {
      const { file, line, operator, isShell } = mutant;
      const result = { ...mutant, ...(await verdictOf(copy, testsFor(file, isShell), { file, text })) };
      results.push(result);
      appendFileSync(path, `${JSON.stringify(result)}\n`);
      const { verdict, seconds, by = '-' } = result;
      process.stdout.write(`${verdict}: ${file}:${line} ${operator}, ${seconds} s, by ${by}\n`);
    }
  };
  await Promise.all(copies.map(work));
}

if (results.length < run.count) await tryMutants();
const { lines, isReached } = report(results);
if (broken.size > 0) process.stdout.write(`skipped, because they fail without a mutant: ${[...broken].join(' ')}\n`);
process.stdout.write(`\n${title}\n\n${lines.join('\n')}\n`);
process.exitCode = isReached ? 0 : 1;
