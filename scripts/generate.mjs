/**
 * Runs every `scripts/generate-*`. With `--check`, each script only compares, and all of them report before this one
 * fails. It loads tsx, because some scripts read the sources.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import './make-sources.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const generators = readdirSync(folder)
  .filter((name) => /^generate-.+\.(?:mjs|ts)$/.test(name))
  .sort();

let isStale = false;
for (const name of generators) {
  const words = ['--import', 'tsx', `${folder}${name}`, ...process.argv.slice(2)];
  if (spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' }).status !== 0) isStale = true;
}
process.exitCode = isStale ? 1 : 0;
