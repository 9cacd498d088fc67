import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveFact, FolderFact, SourceFacts, SourcePlace } from '../../desired/settle/source-facts.ts';
import { mostTreeFiles } from '../../desired/tree-paths.ts';
import { type Digest, digest } from '../../model/digest.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { showProgress } from '../terminal/progress.ts';
import type { Run } from '../verb/verb.ts';

/** Read at once: with less the calls cost more than the hash. */
const chunkBytes = 1_048_576;
/** macOS puts it into every folder that somebody looks at; it belongs to no model. */
const finderFile = '.DS_Store';

/** What lies on this computer of what has to be read. Takes as long as its bytes take; says so after two seconds. */
export async function readSources(
  run: Run,
  { archives, folders }: { readonly archives: readonly SourcePlace[]; readonly folders: readonly SourcePlace[] },
): Promise<SourceFacts> {
  const names = [...archives, ...folders].map(({ name }) => name);
  const progress = showProgress(run.console, 'hashing', names);
  // Without a prototype: `constructor` is a good name for a model.
  const read: { archives: Record<string, ArchiveFact>; folders: Record<string, FolderFact> } = {
    archives: Object.create(null),
    folders: Object.create(null),
  };
  try {
    // One after another: they share a disk.
    for (const { name, path } of archives) {
      read.archives[name] = await readArchive(path, run.signal);
      progress.done(name);
    }
    for (const { name, path } of folders) {
      read.folders[name] = await readFolder(path, run.signal);
      progress.done(name);
    }
    return read;
  } finally {
    progress.stop();
  }
}

/** Lists of packages are shorter. */
const longestText = 1_048_576;

/** Whether a file is packed, so that it is no text. */
export const isArchive = (path: string): boolean => /\.(?:tar\.gz|tar\.xz|zip|dmg)$/.test(path);

/** The digest and the size of an archive, or why nobody knows them. */
export async function readArchive(path: string, signal: AbortSignal): Promise<ArchiveFact> {
  try {
    const hashed = await hashFile(path, signal);
    const text = hashed.sizeBytes <= longestText && !isArchive(path) ? await readFile(path, 'utf8') : undefined;
    return { kind: 'known', ...hashed, ...(text === undefined ? {} : { text }) };
  } catch (error) {
    return failure(path, error, signal);
  }
}

/** Every file below a folder with its digest, or why nobody knows them. Links to files are read, links to folders refused. */
export async function readFolder(path: string, signal: AbortSignal): Promise<FolderFact> {
  try {
    const files: TreeFile[] = [];
    for await (const inside of filesBelow(path, '')) {
      // One more than a model may have is enough to refuse it.
      if (files.length > mostTreeFiles) break;
      files.push({ path: inside, ...(await hashFile(join(path, inside), signal)) });
    }
    return { kind: 'known', files };
  } catch (error) {
    return failure(path, error, signal);
  }
}

async function* filesBelow(root: string, folder: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inside = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.name === finderFile) continue;
    if (entry.isDirectory()) yield* filesBelow(root, inside);
    else yield inside;
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<{ sha256: Digest; sizeBytes: number }> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is no file');
  const file = await open(path, 'r');
  try {
    return await hashOpened(file, signal);
  } finally {
    await file.close();
  }
}

async function hashOpened(file: FileHandle, signal: AbortSignal): Promise<{ sha256: Digest; sizeBytes: number }> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let sizeBytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunkBytes);
    if (bytesRead === 0) break;
    hash.update(chunk.subarray(0, bytesRead));
    sizeBytes += bytesRead;
  }
  return { sha256: digest(hash.digest('hex')), sizeBytes };
}

function failure(path: string, error: unknown, signal: AbortSignal): Exclude<ArchiveFact, { kind: 'known' }> {
  // An interrupted run says nothing about the file.
  if (signal.aborted) throw error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing', detail: `${path} is not there.` };
  const why = error instanceof Error ? error.message : String(error);
  return { kind: 'unreadable', detail: `${path} cannot be read: ${why}.` };
}
