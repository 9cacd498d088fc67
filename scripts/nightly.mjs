/**
 * `npm run nightly -- [--only kills,soak] [--minutes 20] [--seed N]`: runs tests with every case, in parts of at most 60
 * minutes. Without `--only`, all parts run, one after another. Each part writes its row in docs/nightly.md when it ends.
 * Exits with 1 if a part failed. `--check` only reads the rows: exits with 1 if one is missing, failed or too old.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filesOfNight, git, nightFinding, nightParts, nightRows } from '../test/chosen-files.ts';
import { readResults } from './results.mjs';
import { root, runGate, temporaryFolder } from './run-gate.mjs';

const page = join(root, 'docs', 'nightly.md');
const names = [...Object.keys(nightParts), 'soak', 'newest'];
function usage(problem) {
  process.stderr.write(`${problem}\nusage: npm run nightly -- [--only PART,PART] [--minutes 1 to 60] [--seed N]\n`);
  process.stderr.write(`parts: ${names.join(', ')}\n`);
  process.exit(64);
}

function readOptions() {
  const defaults = { minutes: '20', seed: String(Math.floor(Math.random() * 1e6)), only: names.join(',') };
  const texts = Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }]);
  try {
    return parseArgs({ options: { ...Object.fromEntries(texts), check: { type: 'boolean', default: false } } }).values;
  } catch (error) {
    return usage(error.message);
  }
}

const options = readOptions();
const asked = options.only.split(',');
const minutes = Number(options.minutes);
const unknown = asked.find((name) => !names.includes(name));
if (unknown !== undefined) usage(`There is no part "${unknown}".`);
if (!(minutes >= 1 && minutes <= 60)) usage('--minutes must be a number from 1 to 60.');
const results = temporaryFolder();

if (options.check) {
  const rows = nightRows(readFileSync(page, 'utf8'));
  const age = (commit) => git('rev-list', '--count', `${commit}..HEAD`);
  const ageOf = (commit) => (age(commit) === undefined ? undefined : Number(age(commit)));
  const findings = names.map((name) => [name, nightFinding(name, rows, ageOf)]).filter(([, found]) => found);
  for (const [name, { isFailure, text }] of findings)
    process.stdout.write(`${isFailure ? 'FAILED' : 'warning'}: ${text}. Run: npm run nightly -- --only ${name}\n`);
  process.stdout.write(`${names.length} parts of the night checked\n`);
  process.exit(findings.some(([, { isFailure }]) => isFailure) ? 1 : 0);
}

const partMinutes = 60;
let runs = 0;

/** Runs a part's tests once with every case. */
async function runTests(name) {
  runs += 1;
  const folder = join(results, String(runs));
  mkdirSync(folder);
  const env = {
    MESHWRIGHT_DEPTH: 'whole',
    MESHWRIGHT_TESTS: name === 'namespaces' ? 'namespace' : 'all',
    MESHWRIGHT_SEED: options.seed,
    MESHWRIGHT_RESULTS: join(folder, 'all.json'),
  };
  const command = `npx --no-install vitest run ${filesOfNight(name).join(' ')}`;
  const { isGreen } = await runGate({ name, command, minutes: partMinutes, env });
  const { passed, failures } = readResults(folder, root);
  for (const line of failures) process.stdout.write(`FAILED  ${line}\n`);
  return { isGreen, text: `${passed} tests passed, ${failures.length} failed` };
}

/** Runs rounds of property tests; fast-check uses a new seed in each. */
async function runProperties(endMs) {
  let rounds = 0;
  let round;
  do {
    rounds += 1;
    round = await runTests('properties');
  } while (round.isGreen && performance.now() < endMs);
  return { isGreen: round.isGreen, text: `${rounds} rounds, each with new seeds; in the last one ${round.text}` };
}

async function runSoak() {
  const said = join(results, 'soak.json');
  const words = `--expose-gc --import tsx test/nightly/soak.ts --minutes ${minutes}`;
  const { isGreen } = await runGate({ name: 'soak', command: `node ${words} >'${said}'`, minutes: partMinutes });
  if (!isGreen) return { isGreen, text: 'failed' };
  const { nodes, looks, applies, grownBytes } = JSON.parse(readFileSync(said, 'utf8'));
  const grown = `${(grownBytes / 1e6).toFixed(1)} MB`;
  return {
    isGreen,
    text: `${looks} observations of ${nodes} nodes gave the same facts, ${applies} applies found nothing to do; heap grew by ${grown}`,
  };
}

/** Tries the newest runtimes of the registry; CI only names what differs. */
async function runNewest() {
  const said = join(results, 'newest.txt');
  const env = { MESHWRIGHT_NOTICES: said };
  const { isGreen } = await runGate({
    name: 'newest',
    command: 'node test/mlx/newest.mjs --all',
    minutes: partMinutes,
    env,
  });
  const [first = ''] = readFileSync(said, 'utf8').split('\n');
  return { isGreen, text: first.replace('newest runtimes: ', '') };
}

/** Writes the row of a part into the page; the other parts keep theirs. */
function writeRow(name, line) {
  const head = '## The last runs\n';
  const text = readFileSync(page, 'utf8');
  const machine = `Node ${process.versions.node} on ${process.platform} ${process.arch}, ${availableParallelism()} cores`;
  const rows = nightRows(text);
  const lines = names.flatMap((one) => (one === name ? line : (rows.find(({ part }) => part === one)?.line ?? [])));
  const table = ['| part | verdict | when | took | what was tried |', '|---|---|---|---|---|', ...lines];
  writeFileSync(page, `${text.slice(0, text.indexOf(head))}${head}\n${machine}\n\n${table.join('\n')}\n`);
}

const commit = git('rev-parse', '--short', 'HEAD') ?? 'unknown';
const built = await runGate({ name: 'build', command: 'node scripts/build.mjs --quick', minutes: 5 });
if (!built.isGreen) process.exit(1);
for (const name of names.filter((one) => asked.includes(one))) {
  process.stdout.write(`\n== ${name}\n`);
  const startMs = performance.now();
  const run = { properties: () => runProperties(startMs + minutes * 60_000), soak: runSoak, newest: runNewest }[name];
  const { isGreen, text } = await (run ?? (() => runTests(name)))();
  const took = ((performance.now() - startMs) / 60_000).toFixed(1);
  const when = `${new Date().toISOString().slice(0, 10)}, commit ${commit}, seed ${options.seed}`;
  const line = `| ${name} | ${isGreen ? 'passed' : '**failed**'} | ${when} | ${took} min | ${text} |`;
  writeRow(name, line);
  process.stdout.write(`== ${line}\n`);
  if (!isGreen) process.exitCode = 1;
}
