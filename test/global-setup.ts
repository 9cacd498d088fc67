import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds `dist` once before the tests that run the real command. It does nothing if `dist` is up to date. */
export default function setup(): void {
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.mjs', '--quick'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
