/**
 * Runs the project's gates one after another: `check` (only fast gates), `verify` (also the tests), `ci` (everything,
 * starting with the installation). Each gate prints its name, time and verdict; all gates run even if one fails. The
 * last lines show CPU time, wall time and load, list the failed tests, and count tests and gates. In `ci`, a few files
 * with failed tests run once more, alone. A test that then passes is listed as unsteady: the test needs a fix, not the
 * change that it failed on.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTests, failureLines, filesToRunAgain } from './count-tests.mjs';
import { gateRuns, secondRunMinutes } from './gate-list.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const results = mkdtempSync(join(tmpdir(), 'meshwright-gates-'));

const runName = process.argv[2] ?? 'check';
const isOfCi = runName === 'ci';

const hasNamespaces = process.platform === 'linux' && process.getuid() === 0;
if (isOfCi && !hasNamespaces) {
  process.stdout.write('Skipped: simulated Macs in namespaces, which need root on Linux.\n');
}
const runs = gateRuns(results, hasNamespaces);
const gates = runs[runName];
if (gates === undefined) {
  rmSync(results, { recursive: true, force: true });
  process.stderr.write(`usage: node scripts/gates.mjs ${Object.keys(runs).join(' | ')}\n`);
  process.exit(64);
}

let running;
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    if (running !== undefined) process.kill(-running, 'SIGKILL');
    rmSync(results, { recursive: true, force: true });
    process.exit(exitCode);
  });
}

/**
 * Samples and properties draw their cases from the commit, so that each change tries different cases, and a second run
 * the same ones.
 */
const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
const commit = git.status === 0 ? git.stdout.trim() : 'unknown';

const begunAt = performance.now();

/** Runs a gate's failed test files again; false if there are none, or if no time is left. */
async function runAgain(gate) {
  const path = gate.env?.MESHWRIGHT_RESULTS;
  const minutes = secondRunMinutes(gates, gate, (performance.now() - begunAt) / 60_000);
  if (path === undefined || minutes < 1) return false;
  const files = filesToRunAgain(path).map((file) => relative(root, file));
  if (files.length === 0) return false;
  mkdirSync(join(results, 'again'), { recursive: true });
  const env = { ...gate.env, MESHWRIGHT_RESULTS: join(results, 'again', basename(path)) };
  const again = { ...gate, name: `${gate.name}, again`, command: `npx vitest run ${files.join(' ')}`, minutes, env };
  process.stdout.write(`\n== ${again.name}: ${again.command}\n`);
  return runGate(again);
}

const timesFile = join(results, 'times');

/** Runs one gate without a terminal or input. A gate that exceeds its time limit is killed with all its children. */
function runGate(gate) {
  return new Promise((settle) => {
    const timed = `(${gate.command})\ncode=$?\ntimes >'${timesFile}'\nexit $code`;
    const child = spawn('bash', ['-c', timed], {
      cwd: root,
      env: { ...process.env, CI: '1', NO_COLOR: '1', MESHWRIGHT_COMMIT: commit, ...gate.env },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const watchdog = setTimeout(() => {
      process.stdout.write(`gate ${gate.name}: not done after ${gate.minutes} minutes\n`);
      process.kill(-child.pid, 'SIGKILL');
    }, gate.minutes * 60_000);
    running = child.pid;
    child.on('exit', (code) => {
      running = undefined;
      clearTimeout(watchdog);
      addCpuTime();
      settle(code === 0);
    });
  });
}

const cpu = { userSeconds: 0, systemSeconds: 0 };

/** Adds the last gate's CPU time, without processes that outlived their parents. */
function addCpuTime() {
  if (!existsSync(timesFile)) return;
  const [, children = ''] = readFileSync(timesFile, 'utf8').split('\n');
  const [user, system] = [...children.matchAll(/(\d+)m([\d.,]+)s/g)].map(
    ([, m, s]) => 60 * Number(m) + Number(s.replace(',', '.')),
  );
  cpu.userSeconds += user;
  cpu.systemSeconds += system;
  rmSync(timesFile);
}

/** CPU time of all gates, wall time, and the load of the last 1, 5 and 15 minutes. */
function costLine() {
  const minutes = (seconds) => (seconds / 60).toFixed(1);
  const all = minutes(cpu.userSeconds + cpu.systemSeconds);
  const parts = `${minutes(cpu.userSeconds)} user, ${minutes(cpu.systemSeconds)} system`;
  const wall = minutes((performance.now() - begunAt) / 1_000);
  const load = loadavg()
    .map((one) => one.toFixed(1))
    .join(' ');
  return `CPU time ${all} min (${parts}), wall time ${wall} min, load ${load}`;
}

/**
 * Reports whether tests used the real llama.cpp. Without its packages these tests are skipped, which is not a failure.
 */
function llamaLine() {
  const looked = spawnSync('bash', ['scripts/llama-packages.sh', '--find'], { cwd: root, encoding: 'utf8' });
  if (looked.status !== 0) return `skipped: every test with the real llama.cpp (${looked.stderr.trim()})`;
  const [version] = readFileSync(join(looked.stdout.trim(), 'unpacked'), 'utf8').split(' ');
  return `with the real llama.cpp ${version}`;
}

const verdicts = [];
for (const gate of gates) {
  process.stdout.write(`\n== ${gate.name}: ${gate.command}\n`);
  const startedAt = performance.now();
  const isGreen = (await runGate(gate)) || (isOfCi && (await runAgain(gate)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  verdicts.push({ gate, isGreen, line: `${isGreen ? 'passed' : 'FAILED'}  ${seconds.padStart(6)} s  ${gate.name}` });
  process.stdout.write(`== ${verdicts.at(-1).line}\n`);
}

const tests = countTests(results);
const failures = failureLines(results, root);
rmSync(results, { recursive: true, force: true });
const failedGates = verdicts.filter((one) => !one.isGreen).length;
process.stdout.write(`\n${verdicts.map((one) => one.line).join('\n')}\n`);
if (isOfCi) process.stdout.write(`${llamaLine()}\n`);
process.stdout.write(`${costLine()}\n`);
for (const line of failures) process.stdout.write(`${line}\n`);
process.stdout.write(
  `${tests.total} tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped; `,
);
process.stdout.write(`${gates.length} gates: ${failedGates} failed\n`);
const passed = tests.passed + gates.length - failedGates;
process.stdout.write(`${passed} passed, ${tests.failed + failedGates} failed, ${tests.skipped} skipped\n`);
process.exitCode = failedGates + tests.failed === 0 ? 0 : 1;
