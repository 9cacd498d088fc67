import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** The text of a double in perl: its own parts, behind what all doubles share. */
export const doubleText = (...parts: readonly string[]): string => ['head.pl', ...parts].map(partText).join('');

/** The text of one part of a double. */
export const partText = (part: string): string => readFileSync(new URL(part, import.meta.url), 'utf8');

/** A file that was written. */
export interface WrittenFile {
  /** Its name. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Writes a file and makes its folder. */
export async function writeWithFolder(path: string, text: Buffer | string): Promise<WrittenFile> {
  const content = Buffer.from(text);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: basename(path), sha256, sizeBytes: content.length };
}

/** One tensor of a file of weights. */
interface Tensor {
  readonly name: string;
  readonly dtype: 'U8' | 'F16';
  readonly shape: readonly number[];
  readonly content: Buffer;
}

/** A file in the form of safetensors: the length of its header, the header, the bytes of the tensors. */
export function safetensors(tensors: readonly Tensor[]): Buffer {
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape, content }) => {
    const start = end;
    end += content.length;
    return [name, { dtype, shape, data_offsets: [start, end] }];
  });
  const head = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(head.length));
  return Buffer.concat([length, head, ...tensors.map(({ content }) => content)]);
}
