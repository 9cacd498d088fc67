/**
 * Runs the project's gates one after another: `check` (only fast gates), `verify` (also the tests), `ci` (everything,
 * starting with the installation). Each gate prints its name, time, CPU time and verdict; all gates run even if one
 * fails, unless the installation fails. The last lines show what the run cost, list the failures, and count.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { bars, gateRuns } from './gate-list.mjs';
import { readResults } from './results.mjs';
import { root, runGate, temporaryFolder } from './run-gate.mjs';

const runName = process.argv[2] ?? 'check';
const isOfCi = runName === 'ci';
const results = temporaryFolder();

const hasNamespaces = process.platform === 'linux' && process.getuid() === 0;
const gates = gateRuns(results, hasNamespaces)[runName];
if (gates === undefined) {
  process.stderr.write('usage: node scripts/gates.mjs check | verify | ci\n');
  process.exit(64);
}

const git = (...words) => {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

/** Two runs in one clone would delete each other's packages, so the second one stops. */
function lock() {
  const folder = git('rev-parse', '--git-dir');
  if (folder === undefined) return;
  const path = join(resolve(root, folder), 'ci-lock');
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch {
    const pid = readFileSync(path, 'utf8');
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', pid], { encoding: 'utf8' });
    if (stdout?.includes('gates.mjs')) {
      process.stderr.write(`.ci/run is running in this clone already (process ${pid}). Wait until it has ended.\n`);
      process.exit(75);
    }
    writeFileSync(path, String(process.pid));
  }
  process.on('exit', () => rmSync(path, { force: true }));
}

const commit = git('rev-parse', 'HEAD') ?? 'unknown';
if (isOfCi) {
  lock();
  const number = git('rev-list', '--count', 'HEAD') ?? '0';
  process.stdout.write(`commit ${commit}, number ${number} of its history, which chooses the samples\n`);
  if (!existsSync(join(root, '.git'))) process.stdout.write('There is no git history, so the samples never change.\n');
  if (!hasNamespaces) process.stdout.write('Skipped: Macs in namespaces, which need root on Linux.\n');
}

const verdicts = [];
for (const gate of gates) {
  process.stdout.write(`\n== ${gate.name}: ${gate.command}\n`);
  const env = { MESHWRIGHT_COMMIT: commit, ...gate.env };
  const { isGreen, seconds, cpuSeconds } = await runGate({ ...gate, env });
  const word = isGreen ? 'passed' : gate.mayFail ? 'left out' : 'FAILED';
  const line = `${word.padEnd(8)} ${seconds.toFixed(1).padStart(7)} s  CPU ${cpuSeconds.toFixed(1).padStart(6)} s  ${gate.name}`;
  verdicts.push({ gate, hasFailed: word === 'FAILED', seconds, cpuSeconds, line });
  process.stdout.write(`== ${line}\n`);
  if (word === 'FAILED' && gate.isInstallation) {
    process.stdout.write('The installation failed, so no further gate runs.\n');
    break;
  }
}

const { passed, skipped, failures } = readResults(results, root);
const failed = verdicts.filter((one) => one.hasFailed).length;
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const minutes = (seconds) => (seconds / 60).toFixed(1);
const cpu = minutes(sum(verdicts.map(({ cpuSeconds }) => cpuSeconds)));
const wall = sum(verdicts.map(({ seconds }) => seconds));
const waited = sum(
  verdicts.map(({ gate, seconds, cpuSeconds }) => (gate.isInstallation ? Math.max(0, seconds - cpuSeconds) : 0)),
);
process.stdout.write(`\n${verdicts.map(({ line }) => line).join('\n')}\n`);
if (isOfCi) {
  process.stdout.write(`CPU time ${cpu} min (at most ${bars.cpuMinutes}), `);
  process.stdout.write(`wall time ${minutes(wall - waited)} min (at most ${bars.minutes} on an idle machine) `);
  const load = loadavg().map((one) => one.toFixed(1));
  process.stdout.write(`and ${minutes(waited)} min of waiting for mirrors, load ${load.join(' ')}\n`);
}
const notices = join(results, 'notices.txt');
if (existsSync(notices)) process.stdout.write(readFileSync(notices));
for (const line of failures.slice(0, 40)) process.stdout.write(`FAILED  ${line}\n`);
const ofLlama = failures.filter((line) => /^test\/\w+\/llama/.test(line)).length;
if (ofLlama > 0) {
  const { stdout } = spawnSync('bash', ['scripts/llama-packages.sh', '--find'], { cwd: root, encoding: 'utf8' });
  process.stdout.write(`${ofLlama} with llama.cpp ${basename(stdout.trim())}, which Debian changes without notice\n`);
}
if (failures.length > 40) process.stdout.write(`and ${failures.length - 40} more\n`);
process.stdout.write(`${gates.length} gates, of which ${verdicts.length} ran and ${failed} failed\n`);
const green = verdicts.length - failed;
process.stdout.write(`${passed + green} passed, ${failures.length + failed} failed, ${skipped} skipped\n`);
process.exitCode = failures.length + failed === 0 ? 0 : 1;
