import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds `dist` once before the tests that run the real command. Types are checked by `npm run check`, so this build
 * leaves them out, and it ends at once when `dist` was built from these very sources.
 */
export default function setup(): void {
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.mjs', '--quick'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
