/**
 * `npm run mutate -- [--count 150] [--seed N] [--results FILE] [--limit 600] [--jobs 1]`: measures how many small
 * faults in the sources the tests detect. The seed draws mutants of HEAD, the same number in each area. Each mutant is
 * tested with the nearest unit tests, more unit tests, and the closest scenario and command-line tests, for at most
 * `--limit` seconds in total.
 *
 * Files are mutated in temporary copies, one per parallel job, never in the working tree. The results file has one line
 * per mutant; the same command with this file continues an interrupted run. Exits with 1 if a target is missed.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasScript, isScript } from './layers.cjs';
import { makeCompiles, makeCopy, removeCopy, runTests, withText } from './mutate/copy.mjs';
import { areas, drawn, shares } from './mutate/draw.mjs';
import { codeMutants, mutated, shellMutants } from './mutate/operators.mjs';
import { filesOf, relatedTests } from './mutate/related.mjs';
import { equivalentOf, openResults, report } from './mutate/report.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '150' },
    seed: { type: 'string' },
    results: { type: 'string' },
    limit: { type: 'string', default: '600' },
    jobs: { type: 'string', default: '1' },
  },
});

/** An option's integer value. */
function numberOf(name, most) {
  const value = Number(options[name]);
  if (!(Number.isInteger(value) && value >= 1 && value <= most))
    throw new Error(`--${name} must be an integer from 1 to ${most}`);
  return value;
}
const count = numberOf('count', 10_000);
const limitMs = numberOf('limit', 3_600) * 1_000;
const jobs = numberOf('jobs', 16);

const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: project, encoding: 'utf8' }).stdout.trim();
const seed = options.seed ?? (options.results === undefined ? String(Math.floor(Math.random() * 1e6)) : undefined);
const resultsFile = options.results ?? join(tmpdir(), `meshwright-mutants-${commit.slice(0, 7)}-${seed}.jsonl`);
const { run, results } = openResults(resultsFile, { commit, seed });
process.stdout.write(`commit ${commit.slice(0, 7)}, seed ${run.seed}, ${count} mutants, results in ${resultsFile}\n`);

const copies = Array.from({ length: jobs }, () => makeCopy(project));
const [original] = copies;
process.on('exit', () => copies.forEach(removeCopy));
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    process.stdout.write(`\nInterrupted. To continue: npm run mutate -- --count ${count} --results ${resultsFile}\n`);
    process.exit(exitCode);
  });
}

const texts = new Map();
/** A file's text in the commit. */
function textOf(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(join(original.root, path), 'utf8'));
  return texts.get(path);
}
const mutantsOf = (file, isShell = isScript(file)) =>
  (isShell ? shellMutants : codeMutants)(file, textOf(file)).map((one) => ({ file, ...one }));
// Read from the working tree, so that a run can be counted again after a review of its survivors.
const equivalents = JSON.parse(readFileSync(join(project, 'scripts/mutate/equivalents.json'), 'utf8'));
for (const one of equivalents) {
  const isKnown = mutantsOf(one.file).some((mutant) => equivalentOf([one], mutant) !== undefined);
  if (!isKnown || !one.reason)
    throw new Error(`equivalents.json: missing reason or unknown mutant: ${JSON.stringify(one)}`);
}
const compiles = makeCompiles(original);
const wavesOf = relatedTests(original.root);

/** Makes property tests try the same cases in every run. */
const env = { MESHWRIGHT_COMMIT: commit };

/** Test files that pass without a mutant, and those that fail. Only a failure of the former is meaningful. */
const sound = new Set();
const broken = new Set();

/** Whether the files pass without a mutant. Those that fail are skipped from now on. */
async function areSound(copy, project, files) {
  if (files.every((file) => sound.has(file))) return true;
  const { outcome } = await runTests(copy, { project, files }, limitMs, env);
  for (const file of files) (outcome === 'passed' ? sound : broken).add(file);
  if (outcome !== 'passed') process.stdout.write(`skipped, because it fails without a mutant: ${files.join(' ')}\n`);
  return outcome === 'passed';
}

/**
 * Runs one wave of tests with a mutant. If a failure proves nothing, the wave runs again without the failing files. A
 * run that does not finish kills a mutant only if the same tests finish without the mutant in a quarter of the time.
 */
async function tryWave(copy, { project, files }, mutant, leftMs) {
  const chosen = files.filter((file) => !broken.has(file));
  if (chosen.length === 0) return { verdict: 'survived', seconds: 0 };
  const { outcome, seconds, failed } = await withText(copy, mutant.file, mutated(textOf(mutant.file), mutant), () =>
    runTests(copy, { project, files: chosen }, leftMs, env),
  );
  if (outcome === 'passed') return { verdict: 'survived', seconds };
  if (outcome === 'late') {
    const clean = await runTests(copy, { project, files: chosen }, leftMs / 4, env);
    return clean.outcome === 'passed'
      ? { verdict: 'killed', by: 'a run that does not finish', seconds }
      : { verdict: 'timed out', seconds };
  }
  const suspects = failed.length > 0 ? failed : chosen;
  if (await areSound(copy, project, suspects)) return { verdict: 'killed', by: suspects[0], seconds };
  const again = await tryWave(copy, { project, files }, mutant, leftMs);
  return { ...again, seconds: seconds + again.seconds };
}

/** The verdict on one mutant. */
async function verdictOf(copy, mutant) {
  if (mutant.file.endsWith('.ts') && !compiles(mutant.file, mutated(textOf(mutant.file), mutant)))
    return { verdict: 'refused', seconds: 0 };
  let seconds = 0;
  for (const wave of wavesOf(mutant.file)) {
    const tried = await tryWave(copy, wave, mutant, Math.max(1_000, limitMs - seconds * 1_000));
    seconds += tried.seconds;
    if (tried.verdict !== 'survived') return { ...tried, seconds };
  }
  return { verdict: 'survived', seconds };
}

/** A test run ends shortly after its limit. */
const graceSeconds = 10;

const keyOf = ({ file, start, end, text }) => JSON.stringify([file, start, end, text]);
const known = new Map(results.map((one) => [keyOf(one), one]));
const counted = [];

/** Tries the next mutant of an area that compiles. */
async function tryNext(copy, { name, mutants }) {
  for (let next = mutants.next(); !next.done; next = mutants.next()) {
    const mutant = next.value;
    const isEquivalent = equivalentOf(equivalents, mutant) !== undefined;
    let result = known.get(keyOf(mutant));
    if (isEquivalent && result?.verdict !== 'killed') {
      counted.push({ area: name, verdict: 'equivalent' });
      return;
    }
    const hasMoreTime = result?.verdict === 'timed out' && limitMs > (result.seconds + graceSeconds) * 1_000;
    if (result === undefined || hasMoreTime) {
      const { seconds, ...verdict } = await verdictOf(copy, mutant);
      result = { area: name, ...mutant, ...verdict, seconds: Math.round(seconds) };
      appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
      if (result.verdict !== 'refused') {
        const by = result.by === undefined ? '' : `, by ${result.by}`;
        process.stdout.write(
          `${result.verdict}: ${mutant.file}:${mutant.line} ${mutant.operator}, ${result.seconds} s${by}\n`,
        );
      }
    }
    if (result.verdict === 'refused') continue;
    counted.push(result);
    return;
  }
}

const wanted = shares(count, areas.length);
const queues = areas.map(({ name, folders, isShell = false }, at) => {
  const files = filesOf(original.root, folders).filter(
    (path) => !path.endsWith('.generated.ts') && (isShell ? hasScript(path) : !isScript(path)),
  );
  return { name, wanted: wanted[at], mutants: drawn(`${run.seed} ${name}`, files, (file) => mutantsOf(file, isShell)) };
});
// Takes one mutant from each area in turn, so that an interrupted run covers every area.
const turns = Array.from({ length: Math.max(...wanted) }, (_, round) => queues.filter((queue) => round < queue.wanted));
const left = turns.flat();
await Promise.all(
  copies.map(async (copy) => {
    for (let queue = left.shift(); queue !== undefined; queue = left.shift()) await tryNext(copy, queue);
  }),
);
const { lines, isReached } = report(counted, areas);
process.stdout.write(
  `\ncommit ${commit.slice(0, 7)}, seed ${run.seed}, ${counted.length} mutants\n\n${lines.join('\n')}\n`,
);
process.exitCode = isReached ? 0 : 1;
