import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoubledProgram } from './double-names.ts';
import { writeExoProgram } from './exo/exo-image.ts';
import { writeRequirements, writeUvArchive, writeWheels } from './mlx/mlx-archive.ts';
import { writeNodeArchive } from './ranks/node-archive.ts';
import { tarGz } from './ranks/tar-gz.ts';

const llama = new URL('./llamacpp/llama.pl', import.meta.url);

/** Both programs of llama.cpp, at their paths in the archive. */
async function writeLlamaArchive(path: string, programs: readonly string[]): Promise<void> {
  const content = await readFile(llama);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, tarGz(programs.map((one) => ({ path: one, mode: 0o755, content }))));
}

/**
 * Writes the archive of a double, with its programs where the file expects them. Equal programs give equal bytes.
 *
 * @param path is made, with its folder
 * @throws Error for a program that has no double, which is a bug
 */
export async function writeDouble(program: DoubledProgram, path: string): Promise<void> {
  if (!('driver' in program)) {
    await writeNodeArchive(path, program.program);
    return;
  }
  switch (program.driver) {
    case 'exo':
      return writeExoProgram(path, program);
    case 'mlx':
      return writeUvArchive(path);
    case 'llamacpp-rpc':
      return writeLlamaArchive(path, [program.server, program.worker]);
    case 'command':
      throw new Error(`${program.name} has no double`);
  }
}

/** Writes the list of packages that the double of uv brings along, or the folder of its wheels. */
export const doubledPackages = { list: writeRequirements, wheels: writeWheels } as const;
