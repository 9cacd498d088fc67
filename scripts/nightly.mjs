/**
 * `npm run nightly -- [--minutes 60] [--seed N] [--only properties,enumerations,exchanges,soak]`: runs more tests than
 * the gates of a change, for the given time. Properties run with new seeds for a third of the time, every enumeration
 * runs once in full on racks with a different seed, and a serving rack is observed for the rest of the time. Exits with
 * 1 if anything failed. In any case, it records the tested commit and the results in `docs/nightly.md`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countTests } from './count-tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs', 'nightly.md');
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    only: { type: 'string', default: 'properties,enumerations,exchanges,soak' },
  },
});
const minutes = Number(options.minutes);
if (!(minutes > 0 && minutes <= 1_440)) throw new Error('--minutes must be a number up to 1440');
const results = mkdtempSync(join(tmpdir(), 'meshwright-nightly-'));

/** Tests that run only a sample in everyday runs. */
const enumerated = [
  ...[
    'apply-transaction',
    'converge',
    'exo-',
    'gateway-raw',
    'hostile',
    'kill',
    'mlx-mesh',
    'recipes',
    'start-phases',
  ].map((name) => `test/scenarios/${name}`),
  'test/cli/kill',
  'test/cli/blind-follower',
  'test/cli/skeletons',
  'test/unit/engine/scripts/lease-interleaved',
  'test/unit/engine/scripts/fetch-killed',
  'test/unit/engine/scripts/texts-before',
  'test/native/probe',
];

const running = new Set();
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    for (const pid of running) process.kill(-pid, 'SIGTERM');
    rmSync(results, { recursive: true, force: true });
    process.exit(exitCode);
  });
}

/** Runs a program to its end. Returns its exit code and, if requested, its standard output. */
function run(words, { env = {}, isRead = false } = {}) {
  return new Promise((settle) => {
    const child = spawn(words[0], words.slice(1), {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', isRead ? 'pipe' : 'inherit', 'inherit'],
      detached: true,
    });
    let said = '';
    child.stdout?.on('data', (bytes) => {
      said += bytes;
    });
    running.add(child.pid);
    child.on('close', (code) => {
      running.delete(child.pid);
      settle({ code, said });
    });
  });
}

const vitest = (words, env) => run(['npx', 'vitest', 'run', ...words], { env });

/** Runs rounds of property tests; fast-check uses a new seed in each. */
async function properties(endMs) {
  let rounds = 0;
  let isGreen = true;
  do {
    rounds += 1;
    const env = {
      MESHWRIGHT_RESULTS: join(results, `properties-${rounds}.json`),
      MESHWRIGHT_DEPTH: 'whole',
      MESHWRIGHT_TESTS: 'all',
    };
    isGreen = (await vitest(['test/property', '--project', 'parts'], env)).code === 0;
  } while (isGreen && performance.now() < endMs);
  return { isGreen, text: `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, each with new seeds` };
}

/** Runs tests once with every case. Those of exchanges need network namespaces. */
async function whole(name, files) {
  const folder = join(results, name);
  mkdirSync(folder);
  const env = {
    MESHWRIGHT_DEPTH: 'whole',
    MESHWRIGHT_TESTS: name === 'exchanges' ? 'namespace' : 'all',
    MESHWRIGHT_SEED: options.seed,
    MESHWRIGHT_RESULTS: join(folder, 'all.json'),
  };
  const { code } = await vitest(files, env);
  const counts = countTests(folder);
  return { isGreen: code === 0, text: `${counts.passed} tests passed, ${counts.failed} failed` };
}

async function soak(leftMinutes) {
  const words = ['--expose-gc', '--import', 'tsx', 'test/nightly/soak.ts', '--minutes', leftMinutes.toFixed(1)];
  const { code, said } = await run([process.execPath, ...words], { isRead: true });
  if (code !== 0) return { isGreen: false, text: `failed with ${code}` };
  const { nodes, looks, applies, grownBytes } = JSON.parse(said);
  const grown = `${(grownBytes / 1e6).toFixed(1)} MB`;
  return {
    isGreen: true,
    text: `${looks} observations of ${nodes} nodes gave the same facts, ${applies} applies found nothing to do; heap grew by ${grown}`,
  };
}

const beganAt = new Date();
const startMs = performance.now();
const leftMinutes = () => minutes - (performance.now() - startMs) / 60_000;
const parts = {
  properties: () => properties(startMs + (minutes * 60_000) / 3),
  enumerations: () => whole('enumerations', enumerated),
  exchanges: () => whole('exchanges', ['test/namespace/exchange', 'test/namespace/fan-out']),
  soak: () => soak(Math.max(0.5, leftMinutes())),
};
const chosen = Object.keys(parts).filter((name) => options.only.split(',').includes(name));

const built = spawnSync(process.execPath, ['scripts/build.mjs', '--quick'], { cwd: root, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);
const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
const commit = git.status === 0 ? git.stdout.trim() : 'unknown';
const rows = [];
for (const name of chosen) {
  process.stdout.write(`\n== ${name}\n`);
  const beganMs = performance.now();
  const { isGreen, text } = await parts[name]();
  const took = ((performance.now() - beganMs) / 60_000).toFixed(1);
  const when = `${beganAt.toISOString().slice(0, 10)}, commit ${commit}, seed ${options.seed}`;
  rows.push({
    name,
    isGreen,
    line: `| ${name} | ${isGreen ? 'passed' : '**failed**'} | ${when} | ${took} min | ${text} |`,
  });
  process.stdout.write(`== ${rows.at(-1).line}\n`);
}
rmSync(results, { recursive: true, force: true });

const head = '## The last runs\n';
const old = readFileSync(page, 'utf8');
const machine = `Node ${process.versions.node} on ${process.platform} ${process.arch}, ${availableParallelism()} cores`;
/** A part that did not run keeps the row of its last run. */
const rowOf = (name) =>
  rows.find((row) => row.name === name)?.line ?? old.split('\n').find((line) => line.startsWith(`| ${name} |`));
const all = Object.keys(parts).flatMap((name) => rowOf(name) ?? []);
const table = ['| part | verdict | when | took | what was tried |', '|---|---|---|---|---|', ...all];
writeFileSync(page, `${old.slice(0, old.indexOf(head))}${head}\n${machine}\n\n${table.join('\n')}\n`);
process.stdout.write(`\n${rows.map(({ line }) => line).join('\n')}\n`);
process.exitCode = rows.every(({ isGreen }) => isGreen) ? 0 : 1;
