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
process.stdout.write(`${title}\nTo continue after an interruption: npm run mutate -- --results ${path}\n`);

/** Test files that pass without a mutant, and those that fail. Only a failure of the former is meaningful. */
const sound = new Set();
const broken = new Set();

/** Whether the files pass without a mutant. Those that fail are skipped from now on. */
async function areSound(copy, files, { file }) {
  if (files.every((one) => sound.has(one))) return true;
  const { outcome } = await runTests(copy, files, limit, { file });
  for (const one of files) (outcome === 'passed' ? sound : broken).add(one);
  return outcome === 'passed';
}

const nothing = { outcome: 'passed', seconds: 0, failed: [] };

/**
 * The verdict on one mutant, after all waves of tests or the first that kills it. If a failure proves nothing, its wave
 * runs again without the failing files. A run that does not finish kills a mutant only if the same tests finish without
 * the mutant in a quarter of the time.
 */
async function verdictOf(copy, waves, change) {
  let total = 0;
  for (const left = [...waves]; left.length > 0; ) {
    const files = left[0].filter((one) => !broken.has(one));
    const most = Math.max(1, limit - total);
    const { outcome, seconds, failed } = files.length === 0 ? nothing : await runTests(copy, files, most, change);
    total = Math.round(total + seconds);
    if (outcome === 'late') {
      const isSlower = (await runTests(copy, files, most / 4, { file: change.file })).outcome === 'passed';
      return { verdict: isSlower ? 'killed' : 'timed out', by: 'a run that does not finish', seconds: total };
    }
    const suspects = failed.length > 0 ? failed : files;
    if (outcome === 'failed' && (await areSound(copy, suspects, change)))
      return { verdict: 'killed', by: suspects[0], seconds: total };
    if (outcome === 'passed') left.shift();
  }
  return { verdict: 'survived', seconds: total };
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
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
  while (copies.length < jobs) copies.push(makeCopy(project, run.commit, Math.ceil(availableParallelism() / jobs)));
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
