/** The gates as data: the runs that include each gate, its command, and its time limit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** CI stops a run after 90 minutes. All time limits of `ci`, including second runs, add up to less than that. */
export const totalMinutes = 85;

const root = fileURLToPath(new URL('..', import.meta.url));

/** The README's setup command, word for word, so that the tested command is the one people type. */
function readmeCommand(pattern) {
  const [command] = readFileSync(join(root, 'README.md'), 'utf8').match(pattern) ?? [];
  return command ?? 'echo "README.md shows no such command" >&2; exit 1';
}

/** Makes tests fail, instead of being skipped, if a program that they need is missing. */
const everything = { MESHWRIGHT_SSHD: 'required', MESHWRIGHT_SHELLCHECK: 'required', MESHWRIGHT_NATIVE: 'required' };

const checks = [
  { name: 'generated files', command: 'npm run -s check:generated', minutes: 1 },
  { name: 'format and lint', command: 'npm run -s check:style', minutes: 1 },
  { name: 'promises and unions', command: 'npm run -s check:promises', minutes: 3 },
  { name: 'types', command: 'npm run -s check:types', minutes: 3 },
  { name: 'layers', command: 'npm run -s check:layers', minutes: 1 },
  { name: 'unused', command: 'npm run -s check:unused', minutes: 1 },
  { name: 'docs of the library', command: 'npm run -s check:docs', minutes: 1 },
  { name: 'grain of the sources', command: 'npm run -s check:grain', minutes: 1 },
];

/**
 * The gates of each run, in order. A gate with test results sets their file in `env.MESHWRIGHT_RESULTS`.
 *
 * @param results folder for the results
 * @param hasNamespaces whether simulated Macs can run in namespaces: only as root, and only on Linux
 */
export function gateRuns(results, hasNamespaces) {
  const resultsIn = (name) => ({ MESHWRIGHT_RESULTS: join(results, `${name}.json`) });
  const tests = { minutes: 7, env: resultsIn('everyday') };
  const inNamespaces = {
    name: 'simulated Macs in namespaces',
    command: 'npx vitest run --project namespace',
    minutes: 7,
    env: { ...everything, ...resultsIn('namespace'), MESHWRIGHT_TESTS: 'namespace' },
  };
  return {
    check: checks,
    verify: [
      ...checks,
      { ...tests, name: 'tests', command: 'npm test' },
      { name: 'package', command: 'npm run -s check:package', minutes: 2 },
    ],
    ci: [
      { name: 'system tools', command: 'bash scripts/system-tools.sh', minutes: 3 },
      {
        ...tests,
        name: 'npm ci && npm test',
        command: readmeCommand(/npm ci[^`\n]*&& npm test/),
        env: { ...everything, ...tests.env },
      },
      ...checks,
      { name: 'native sources', command: 'npm run -s check:native', minutes: 2 },
      { name: 'package', command: 'npm run -s check:package', minutes: 2 },
      { name: 'demo', command: 'npm run demo', minutes: 3 },
      { name: 'native core', command: 'npm run -s native', minutes: 1 },
      { name: 'calls of an apply', command: 'npm run -s count-calls', minutes: 1 },
      ...(hasNamespaces ? [inNamespaces] : []),
      {
        name: 'the other tests, a sample of enumerations',
        command: 'npm run test:rest',
        minutes: 46,
        env: { ...everything, ...resultsIn('whole'), MESHWRIGHT_TESTS: 'rest', MESHWRIGHT_DEPTH: 'share' },
      },
    ],
  };
}

/** Time limit for a gate's second run: the minutes that the remaining gates cannot use. */
export function secondRunMinutes(gates, gate, elapsedMinutes) {
  const later = gates.slice(gates.indexOf(gate) + 1);
  return totalMinutes - elapsedMinutes - later.reduce((sum, { minutes }) => sum + minutes, 0);
}
