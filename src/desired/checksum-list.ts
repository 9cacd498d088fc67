import { type Digest, digest } from '../model/digest.ts';
import type { TreeFile } from '../model/node-script.ts';

/** The file in which a server lists the files of a model, next to them. */
export const checksumName = 'SHA256SUMS';

/** The files that a list names, or the number of its first line that cannot be read. */
export type ChecksumList =
  | { readonly kind: 'listed'; readonly files: readonly Pick<TreeFile, 'path' | 'sha256'>[] }
  | { readonly kind: 'garbled'; readonly line: number };

/** `<digest>  path`, as printed by shasum and sha256sum; `*` before the path is their mark for binary files. */
const plainLine = /^([0-9a-f]{64}) [ *](.+)$/i;
/** `SHA256 (path) = <digest>`, as printed by sha256 of macOS and by `--tag`. */
const taggedLine = /^SHA256 \((.+)\) = ([0-9a-f]{64})$/i;

/**
 * Reads a list of checksums. Leaves out the list itself, and files and folders whose names begin with a dot.
 * @see shasum(1), sha256sum(1): `./` before a path is what `find .` prints
 */
export function readChecksums(text: string): ChecksumList {
  const files = new Map<string, Digest>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, plainDigest, plainPath] = plainLine.exec(line) ?? [];
    const [, taggedPath, taggedDigest] = taggedLine.exec(line) ?? [];
    const [sha256, path] = [plainDigest ?? taggedDigest, (plainPath ?? taggedPath)?.replace(/^(?:\.\/)+/, '')];
    if (sha256 === undefined || path === undefined) return { kind: 'garbled', line: index + 1 };
    if (path === checksumName || path.split('/').some((part) => part.startsWith('.'))) continue;
    const found = digest(sha256.toLowerCase());
    if (files.has(path) && files.get(path) !== found) return { kind: 'garbled', line: index + 1 };
    files.set(path, found);
  }
  return { kind: 'listed', files: [...files].map(([path, sha256]) => ({ path, sha256 })) };
}
