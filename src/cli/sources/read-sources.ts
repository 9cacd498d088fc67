import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pointerTo } from '../../config/source-map.ts';
import { requirementsName } from '../../desired/resolve-placements.ts';
import type {
  ArchiveFact,
  FolderFact,
  SourceFacts,
  SourceFailure,
  SourcePlace,
} from '../../desired/settle/settle-trees.ts';
import { mostTreeFiles } from '../../desired/tree-paths.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type Digest, digest } from '../../model/digest.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { modelSubject, namedSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import type { JudgedFiles } from '../cluster/open-cluster.ts';
import { showProgress } from '../terminal/progress.ts';
import type { Run } from '../verb.ts';

/**
 * What is missing of the sources on this computer, and the lists of packages: no archive and no model is read for it, so
 * that it takes no time. Sources that are there and were not read are left out.
 */
export async function seeSources(
  run: Run,
  { archives, folders }: { readonly archives: readonly SourcePlace[]; readonly folders: readonly SourcePlace[] },
): Promise<SourceFacts> {
  const seen = async ({ name, path }: SourcePlace): Promise<readonly [string, ArchiveFact] | undefined> => {
    const failure = await missing(path);
    if (failure !== undefined) return [name, failure];
    return isArchive(path) ? undefined : [name, await readArchive(path, run.signal)];
  };
  const gone = async ({ name, path }: SourcePlace): Promise<readonly [string, FolderFact] | undefined> => {
    const failure = await missing(path);
    return failure === undefined ? undefined : [name, failure];
  };
  const [files, others] = await Promise.all([Promise.all(archives.map(seen)), Promise.all(folders.map(gone))]);
  return {
    archives: Object.fromEntries(files.flatMap((one) => (one === undefined ? [] : [one]))),
    folders: Object.fromEntries(others.flatMap((one) => (one === undefined ? [] : [one]))),
  };
}

async function missing(path: string): Promise<SourceFailure | undefined> {
  try {
    await stat(path);
    return undefined;
  } catch {
    return { kind: 'missing', detail: `${path} is not there.` };
  }
}

/** A warning at its key for each missing source that the lock does not know; nodes may have what it knows. */
export function missingSources({ lock, whereIs }: JudgedFiles, sources: SourceFacts): readonly Diagnostic[] {
  const told = (pointer: string, subject: Subject, { detail }: SourceFailure): Diagnostic => {
    const where = whereIs?.(pointer);
    const code = subject.kind === 'model' ? 'model/folder-missing' : 'runtime/archive-missing';
    return diagnose(code, { detail, subject, ...(where === undefined ? {} : { where }) });
  };
  const ofFile = ([name, seen]: readonly [string, ArchiveFact | FolderFact]): readonly Diagnostic[] => {
    const [runtime = '', extra] = name.split('/');
    const isLocked = Object.hasOwn(extra === undefined ? lock.runtimes : (lock.runtimeFiles ?? {}), name);
    if (seen.kind === 'known' || isLocked) return [];
    const key = extra === undefined ? 'archive' : extra === requirementsName ? 'requirements' : 'wheels';
    const pointer = runtime === 'doorman' ? '/doorman' : `${pointerTo('/runtimes', runtime)}/${key}`;
    return [told(pointer, runtime === 'doorman' ? namedSubject(runtime) : runtimeSubject(runtime), seen)];
  };
  const isWheels = ([name]: readonly [string, FolderFact]): boolean => name.includes('/');
  const folders = Object.entries(sources.folders);
  return [
    ...[...Object.entries(sources.archives), ...folders.filter(isWheels)].flatMap(ofFile),
    ...folders.flatMap(([name, seen]) =>
      seen.kind === 'known' || name.includes('/')
        ? []
        : [told(`${pointerTo('/models', name)}/source`, modelSubject(name), seen)],
    ),
  ];
}

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
const isArchive = (path: string): boolean => /\.(?:tar\.gz|tar\.xz|zip|dmg)$/.test(path);

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
