import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/**
 * Unpacks the command line of the release before into a folder and gives the path of its program. The archive is made
 * by `scripts/keep-build.mjs` and has everything that the program loads, so it needs nothing of this source tree. It
 * finds a simulated rack by the `run.json` of the simulator: a simulator that writes another form writes the old one, too.
 */
export function unpackOldBuild(folder: string): string {
  const bytes = brotliDecompressSync(readFileSync(new URL('build.json.br', import.meta.url)));
  const files = JSON.parse(bytes.toString()) as Readonly<Record<string, string>>;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return join(folder, 'dist/cli/main.js');
}
