import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../scripts/python-packages.sh', import.meta.url));
const deadlineMs = 240_000;

/**
 * The folder of a Python environment with the packages of `NAME.requirements.txt`, which are installed if necessary.
 * Undefined without a network: tests that need it are skipped; with MESHWRIGHT_PYTHON=required they fail.
 */
export function pythonPackages(name: string): string | undefined {
  const ran = spawnSync('bash', [script, name], { encoding: 'utf8', timeout: deadlineMs });
  if (ran.status === 0) return ran.stdout.trim();
  const reason = ran.stderr?.trim() || 'scripts/python-packages.sh did not end in time';
  if (process.env['MESHWRIGHT_PYTHON'] === 'required') throw new Error(reason);
  process.stderr.write(`left out: ${reason}\n`);
  return undefined;
}
