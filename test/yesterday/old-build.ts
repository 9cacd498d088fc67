import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/**
 * Unpacks the command line of the previous release into a folder and returns the path of its program. The archive is
 * built by `scripts/keep-build.mjs` and contains everything that the program loads, so the program needs nothing from
 * this source tree. It finds a simulated rack by the `run.json` of the simulator: a simulator with a new format also
 * writes the old one.
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
