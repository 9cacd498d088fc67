import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tarGz } from './tar-gz.ts';

/** A file that was written. */
export interface WrittenFile {
  /** Relative to the folder that was asked for, or the name of the archive. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

const source = new URL('./ranks/rank.pl', import.meta.url);

async function write(path: string, name: string, content: Buffer): Promise<WrittenFile> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return { path: name, sha256: createHash('sha256').update(content).digest('hex'), sizeBytes: content.length };
}

/**
 * Writes the archive of the reference runtime: `bin/rank`, for the perl that macOS ships. The same bytes every time.
 * It is a whole runtime for the driver `command`, though not one that can think.
 *
 * @param path of the `.tar.gz` file; its folder is made
 */
export async function writeReferenceArchive(path: string): Promise<WrittenFile> {
  const content = await readFile(source);
  const name = path.slice(path.lastIndexOf('/') + 1);
  return write(path, name, tarGz([{ path: 'bin/rank', mode: 0o755, content }]));
}

/** Bytes without a pattern that are the same for the same name. */
function weights(name: string, sizeBytes: number): Buffer {
  const key = createHash('sha256').update(name).digest();
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16));
  return cipher.update(Buffer.alloc(sizeBytes));
}

/** A file in the form of safetensors: the length of its header, the header, one tensor of bytes. */
function safetensors(name: string, sizeBytes: number): Buffer {
  const tensor = { dtype: 'U8', shape: [sizeBytes], data_offsets: [0, sizeBytes] };
  const text = Buffer.from(JSON.stringify({ [name]: tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, weights(name, sizeBytes)]);
}

const shards = 2;

/** Its heads can be divided by any number of nodes up to eight. */
const tinyConfig = { model_type: 'reference', num_hidden_layers: shards, hidden_size: 840, num_attention_heads: 840 };

/**
 * Writes a model that has the shape of a real one, in few bytes: a configuration and two files of weights. The same
 * bytes every time.
 *
 * @param folder is made
 * @param weightBytes of both files of weights together
 */
export async function writeTinyModel(folder: string, weightBytes = 65_536): Promise<readonly WrittenFile[]> {
  const config = Buffer.from(`${JSON.stringify(tinyConfig, null, 2)}\n`);
  const written = [await write(join(folder, 'config.json'), 'config.json', config)];
  for (let number = 1; number <= shards; number += 1) {
    const name = `model-0000${number}-of-0000${shards}.safetensors`;
    const content = safetensors(`layers.${number - 1}.weight`, Math.ceil(weightBytes / shards));
    written.push(await write(join(folder, name), name, content));
  }
  return written;
}
