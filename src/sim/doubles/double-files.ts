import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** A double's Perl text: the part that all doubles share, then the double's own parts. */
export const doubleText = (...parts: readonly string[]): string => ['head.pl', ...parts].map(partText).join('');

export const partText = (part: string): string => readFileSync(new URL(part, import.meta.url), 'utf8');

export interface WrittenFile {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

export async function writeWithFolder(path: string, text: Buffer | string): Promise<WrittenFile> {
  const content = Buffer.from(text);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: basename(path), sha256, sizeBytes: content.length };
}

interface Tensor {
  readonly name: string;
  readonly dtype: 'U8' | 'F16';
  readonly shape: readonly number[];
  readonly content: Buffer;
}

/** A file in the safetensors format: header length, header, tensor bytes. */
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
