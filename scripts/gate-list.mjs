/** The gates as data: the runs that include each gate, its command, and its time limit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-gate.mjs';

/** CI stops a run after 90 minutes. All time limits of `ci` add up to less than that. */
export const totalMinutes = 85;

/** Bars of `ci` on a machine with two cores: CPU minutes, and minutes that do not wait for mirrors. */
export const bars = { cpuMinutes: 24, minutes: 25 };

/** The two commands of the README's setup, word for word, so that the tested commands are those that people type. */
function readmeCommands() {
  const [command] = readFileSync(join(root, 'README.md'), 'utf8').match(/npm ci && npm test/) ?? [];
  return command?.split(' && ') ?? ['echo "README.md does not show npm ci && npm test" >&2; exit 1', 'exit 1'];
}

/** Makes tests fail, instead of being skipped, if a program that they need is missing. */
const everything = { MESHWRIGHT_SSHD: 'required', MESHWRIGHT_SHELLCHECK: 'required', MESHWRIGHT_NATIVE: 'required' };

/**
 * The gates of each run, in order. A gate with test results sets their file in `env.MESHWRIGHT_RESULTS`. If an
 * installation fails, the gates after it do not run. One that `mayFail` only makes tests skip something.
 *
 * @param results folder for the results
 * @param hasNamespaces whether simulated Macs can run in namespaces: only as root, and only on Linux
 */
export function gateRuns(results, hasNamespaces) {
  const tested = (name, more = {}) => ({ MESHWRIGHT_RESULTS: join(results, `${name}.json`), ...more });
  const [install, test] = readmeCommands();
  const checks = [
    { name: 'generated files', command: 'npm run -s check:generated', minutes: 1 },
    { name: 'format and lint', command: 'npm run -s check:style', minutes: 1 },
    { name: 'types, promises and docs', command: 'npm run -s check:types', minutes: 6 },
    { name: 'layers', command: 'npm run -s check:layers', minutes: 1 },
    { name: 'unused', command: 'npm run -s check:unused', minutes: 1 },
    { name: 'grain of the sources', command: 'npm run -s check:grain', minutes: 1 },
    { name: 'rules for the sources', command: 'npm run -s check:sources', minutes: 3, env: tested('sources') },
    { name: 'age of the night', command: 'npm run -s check:night', minutes: 1 },
  ];
  const ofCi = { ...everything, MESHWRIGHT_PYTHON: 'required', MESHWRIGHT_DEPTH: 'share' };
  return {
    check: checks,
    verify: [
      ...checks,
      { name: 'tests', command: test, minutes: 7, env: tested('everyday') },
      { name: 'package', command: 'npm run -s check:package', minutes: 2 },
    ],
    ci: [
      { name: 'system tools', command: 'bash scripts/system-tools.sh', minutes: 8, isInstallation: true },
      { name: install, command: install, minutes: 3, isInstallation: true },
      {
        name: 'real llama.cpp',
        command: 'bash scripts/llama-packages.sh',
        minutes: 3,
        isInstallation: true,
        mayFail: true,
      },
      {
        name: 'real Python programs',
        command: "bash -c 'for name in hf mlx clients; do bash scripts/python-packages.sh $name || exit; done'",
        minutes: 4,
        isInstallation: true,
      },
      { name: test, command: test, minutes: 6, env: tested('everyday', { ...everything, MESHWRIGHT_SHELLS: 'all' }) },
      ...checks,
      { name: 'package', command: 'npm run -s check:package', minutes: 2 },
      { name: 'native core', command: 'npm run -s native', minutes: 1 },
      ...(hasNamespaces
        ? [
            {
              name: 'Macs in namespaces',
              command: 'npm run test:namespace',
              minutes: 10,
              env: tested('namespace', ofCi),
            },
          ]
        : []),
      { name: 'slow tests', command: 'npm run test:rest', minutes: 30, env: tested('rest', ofCi) },
      {
        name: 'newest runtimes',
        command: 'node test/mlx/newest.mjs',
        minutes: 2,
        mayFail: true,
        env: { MESHWRIGHT_NOTICES: join(results, 'notices.txt') },
      },
    ],
  };
}
