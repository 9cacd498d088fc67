import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { LlamaPackages } from './packages.ts';

/** Both programs of an archive, in `bin` as in a release of llama.cpp. */
export const llamaPrograms = ['llama-server', 'ggml-rpc-server'] as const;

/** The name of a program in an archive. */
export type LlamaProgram = (typeof llamaPrograms)[number];

/** A file of a simulated Mac. If it exists, serving programs of llama.cpp print its contents and exit with 1. */
export const lastWordsPath = '/.sim/last-words';

/** Starts a program through its own loader, in the folder of its backends. */
const wrapper = (program: LlamaProgram, { loader, backends }: LlamaPackages): string => `#!/bin/sh
[ ! -f ${lastWordsPath} ] || [ "$*" = --list-devices ] || { cat ${lastWordsPath} >&2; exit 1; }
h=\${0%/bin/*}
cd "$h/${backends}" || exit 1
exec "$h/${loader}" --library-path "$h/lib:$h/lib/llama" "$h/programs/${program}" "$@"
`;

/** Writes `bin` with both programs. */
async function writeWrappers(folder: string, packages: LlamaPackages): Promise<void> {
  await mkdir(join(folder, 'bin'), { recursive: true });
  for (const program of llamaPrograms) {
    const path = join(folder, 'bin', program);
    await writeFile(path, wrapper(program, packages));
    await chmod(path, 0o755);
  }
}

/**
 * Packs a runtime like a release: `bin/llama-server` and `bin/ggml-rpc-server`, with
 * everything that they need next to them, so that a node needs only this archive.
 */
export async function writeLlamaArchive(path: string, packages: LlamaPackages): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-llama-'));
  try {
    await writeWrappers(folder, packages);
    await mkdir(dirname(path), { recursive: true });
    const words = ['-I', 'gzip -1', '-cf', path, '-C', folder, 'bin', '-C', packages.folder, 'programs', 'lib'];
    await promisify(execFile)('tar', words);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
