/**
 * Tries the newest mlx and mlx-lm of the registry with the tests of the pinned ones, and compares the table of model
 * types with it, or with `--all` in any case. Writes what it found to stdout and to the file in MESHWRIGHT_NOTICES. Exits with 1 if the newest release
 * differs, and with 2 if the registry cannot be reached.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const list = readFileSync(join(root, 'test/python/mlx.requirements.txt'), 'utf8');
const pinnedOf = (name) => list.match(new RegExp(`^${name}==(\\S+)`, 'm'))?.[1];
const run = (command, words, env = {}) =>
  spawnSync(command, words, { cwd: root, encoding: 'utf8', timeout: 600_000, env: { ...process.env, ...env } });

function notice(line) {
  process.stdout.write(`${line}\n`);
  if (process.env['MESHWRIGHT_NOTICES'] !== undefined) appendFileSync(process.env['MESHWRIGHT_NOTICES'], `${line}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'mw-newest-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const pinnedPython = join(root, '.cache/python/mlx/bin/python');

/** The newest release of a package; undefined without the registry. */
const newestOf = (name) =>
  run(pinnedPython, ['-m', 'pip', 'index', 'versions', name]).stdout.match(/\(([\d.]+)\)/)?.[1];

run('bash', ['scripts/python-packages.sh', 'mlx']);
const names = ['mlx', 'mlx-lm'];
const newest = names.map((name) => [name, newestOf(name)]);
if (newest.some(([, version]) => version === undefined)) {
  notice('newest runtimes: the registry of Python packages was not reached');
  process.exit(2);
}
const words = newest.map(([name, version]) => `${name} ${version}`).join(', ');
const isPinned = newest.every(([name, version]) => version === pinnedOf(name));
if (isPinned) notice(`newest runtimes: ${words}, as in our tests`);
else tryNewest();
// Wheels never change, so the table is compared only with a newer one, or if everything is to be compared.
if (!isPinned || process.argv.includes('--all')) compareTable();

function tryNewest() {
  const packages = [...names, 'mlx-cpu'].map((name) => {
    const version = newest.find(([one]) => one === name)?.[1] ?? newest[0][1];
    return `${name}==${version}`;
  });
  run('python3', ['-m', 'venv', folder]);
  const installed = run(join(folder, 'bin/python'), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--only-binary',
    ':all:',
    ...packages,
  ]);
  if (installed.status !== 0) {
    notice(`newest runtimes: ${words} could not be installed: ${installed.stderr.trim().split('\n').at(-1)}`);
    process.exit(2);
  }
  const results = join(folder, 'results.json');
  const file = 'test/mlx/real-mlx.slow.test.ts';
  const env = { MESHWRIGHT_MLX: folder, MESHWRIGHT_TESTS: 'all', NO_COLOR: '1' };
  const report = ['--reporter=json', `--outputFile=${results}`];
  const { status } = run('npx', ['--no-install', 'vitest', 'run', file, ...report], env);
  const tests = JSON.parse(readFileSync(results, 'utf8')).testResults.flatMap((one) => one.assertionResults);
  notice(`newest runtimes: ${words}, newer than in our tests: ${status === 0 ? 'nothing differs' : 'what differs:'}`);
  for (const { fullName, failureMessages } of tests.filter((one) => one.status === 'failed'))
    notice(`  ${fullName}: ${failureMessages.join(' ').split('\n').slice(0, 12).join(' ').slice(0, 600)}`);
  if (status !== 0) process.exitCode = 1;
}

function compareTable() {
  const { status, stdout } = run('npm', ['run', '-s', 'mlx-types', '--', '--check']);
  const said = stdout.split('\n').filter((line) => line.startsWith('notice:') || status === 1);
  for (const line of said.filter(Boolean).slice(0, 20)) notice(`  ${line}`);
  if (status === 1) process.exitCode = 1;
}
