import { createCipheriv, createHash } from 'node:crypto';
import { join } from 'node:path';
import { toolFile } from '../model/node-files.ts';
import { doubleText, safetensors, type WrittenFile, writeWithFolder } from './double-files.ts';
import { writeArchive } from './tar-gz.ts';

/**
 * Writes the archive of the reference runtime: `bin/rank`, for macOS's perl. The bytes are always the same. The runtime
 * is complete for the driver `command`, but cannot run a real model.
 *
 * @param path of the `.tar.gz` file, whose folder is created
 */
export const writeReferenceArchive = (path: string): Promise<WrittenFile> =>
  writeArchive(path, [toolFile('bin/rank', doubleText('ranks/rank.pl'))]);

/** Patternless bytes; the same name gives the same bytes. */
function weights(name: string, sizeBytes: number): Buffer {
  const key = createHash('sha256').update(name).digest();
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16));
  return cipher.update(Buffer.alloc(sizeBytes));
}

const shards = 2;

/** The number of heads is divisible by every number of nodes up to eight. */
const tinyConfig = { model_type: 'reference', num_hidden_layers: shards, hidden_size: 840, num_attention_heads: 840 };

/**
 * Writes a small model with the shape of a real one: a configuration and two weights files. The bytes are always the
 * same.
 *
 * @param folder is created
 * @param weightBytes total size of both weights files
 */
export async function writeTinyModel(folder: string, weightBytes = 65_536): Promise<readonly WrittenFile[]> {
  const config = Buffer.from(`${JSON.stringify(tinyConfig, null, 2)}\n`);
  const written = [await writeWithFolder(join(folder, 'config.json'), config)];
  const sizeBytes = Math.ceil(weightBytes / shards);
  for (let number = 1; number <= shards; number += 1) {
    const name = `layers.${number - 1}.weight`;
    const tensor = { name, dtype: 'U8', shape: [sizeBytes], content: weights(name, sizeBytes) } as const;
    const file = `model-0000${number}-of-0000${shards}.safetensors`;
    written.push(await writeWithFolder(join(folder, file), safetensors([tensor])));
  }
  return written;
}
