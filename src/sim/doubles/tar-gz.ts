import { crc32 } from 'node:zlib';
import { type ArchiveFile, tar } from '../../model/tar.ts';
import type { NodeFile } from '../model/node-files.ts';
import { type WrittenFile, writeWithFolder } from './double-files.ts';

const storedLimit = 65_535;

function littleEndian(number: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(number, 0, bytes);
  return buffer;
}

/** Uncompressed blocks (RFC 1951, 3.2.4), which are the same with every library version. */
function stored(content: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += storedLimit) {
    const part = content.subarray(at, at + storedLimit);
    const isLast = at + storedLimit >= content.length ? 1 : 0;
    const length = littleEndian(part.length, 2);
    blocks.push(Buffer.from([isLast]), length, Buffer.from(length.map((byte) => byte ^ 0xff)), part);
  }
  return blocks;
}

/**
 * A `.tar.gz` of these files. Equal files give equal bytes on every system. Only for small archives, because nothing is
 * compressed.
 *
 * @see RFC 1952 for the envelope: no name, no time, operating system unknown
 */
export function tarGz(files: readonly ArchiveFile[]): Buffer {
  const content = tar(files);
  const envelope = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  return Buffer.concat([
    envelope,
    ...stored(content),
    littleEndian(crc32(content), 4),
    littleEndian(content.length, 4),
  ]);
}

const archived = ({ path, text, isExecutable }: NodeFile): ArchiveFile => ({
  path,
  mode: isExecutable ? 0o755 : 0o644,
  content: Buffer.from(text),
});

/** Writes an archive of these files with relative paths, and creates its folder. */
export const writeArchive = (path: string, files: readonly NodeFile[]): Promise<WrittenFile> =>
  writeWithFolder(path, tarGz(files.map(archived)));
