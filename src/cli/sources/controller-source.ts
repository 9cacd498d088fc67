import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pointerTo } from '../../desired/draft.ts';
import { requirementsName } from '../../desired/settle/python-packages.ts';
import {
  type ArchiveFact,
  absolutePath,
  type FolderFact,
  type SourceFacts,
  type SourcePlace,
} from '../../desired/settle/settle-trees.ts';
import { mostTreeFiles } from '../../desired/tree-paths.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { driverOf } from '../../drivers/registry.ts';
import { nearestProgram, programsOf } from '../../drivers/runtime-programs.ts';
import type { DesiredGateway, DesiredRuntime, UnreadArchive, UnreadSource } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { modelSubject, namedSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { programsIn } from '../cluster/doubles.ts';
import type { JudgedFiles, OpenedCluster } from '../cluster/open-cluster.ts';
import { needTrust, sourceRequests } from '../cluster/trust.ts';
import { isInside } from '../files/places.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { type List, noFacts } from './list.ts';

/** Enough for an archive of 400 MB, which takes a few seconds. Nodes check slower archives before a stop. */
const listMs = 20_000;
const longestList = 8_388_608;

/**
 * The paths in an archive, as listed by this computer's tar; undefined if tar cannot read the file, such as a disk
 * image.
 * @see tar(1): after a slash, a colon in `-f` does not mean a remote computer
 */
async function listArchive(path: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  if (path.endsWith('.dmg') || !existsSync(path)) return undefined;
  const listed = promisify(execFile)('tar', ['-tf', `./${basename(path)}`], {
    cwd: dirname(path),
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    timeout: listMs,
    maxBuffer: longestList,
    signal,
  });
  const text = await listed.then(
    ({ stdout }) => stdout,
    () => undefined,
  );
  return text?.split('\n').map((line) => line.replace(/^\.\//, ''));
}

/** One error per program missing from its archive. Skips archives that cannot be listed here. */
export async function missingPrograms(
  { fleet, path, whereIs }: Pick<OpenedCluster, 'fleet' | 'path' | 'whereIs'>,
  signal: AbortSignal,
  isIncluded: (name: string) => boolean = () => true,
): Promise<readonly Diagnostic[]> {
  const all = programsIn(fleet).filter(({ name }) => isIncluded(name));
  const found: Diagnostic[] = [];
  for (const runtime of all) {
    // An archive on a server is listed by the nodes.
    const programs = runtime.release === undefined ? programsOf(runtime, fleet) : [];
    const members =
      programs.length === 0 ? undefined : await listArchive(absolutePath(dirname(path), runtime.archive), signal);
    if (members === undefined) continue;
    for (const program of programs) {
      const one = nearestProgram(program, programs, members);
      if (one === undefined) continue;
      const where = whereIs?.(pointerOf(runtime, program));
      found.push(
        diagnose('runtime/no-program', {
          subject: 'driver' in runtime ? runtimeSubject(runtime.name) : namedSubject('gateway'),
          detail: escapeText(`${runtime.archive} has no ${program}.`),
          ...(one.path === undefined ? {} : { hint: escapeText(`Did you mean ${one.path}?`) }),
          ...given({ where }),
        }),
      );
    }
  }
  return found;
}

/** The pointer to the key that names a program; without such a key, to the runtime. */
function pointerOf(runtime: DesiredRuntime | DesiredGateway, program: string): string {
  if (!('driver' in runtime)) return '/gateway/program';
  const key = driverOf(runtime).programKey?.(runtime, program) ?? 'program';
  return `${pointerTo('/runtimes', runtime.name)}/${key}`;
}

/** Finds missing sources on this computer and reads package lists, but neither archives nor models. */
export async function seeSources(run: Run, places: readonly SourcePlace[]): Promise<SourceFacts> {
  const local = places.filter((one) => one.kind === 'controller');
  await needTrust(run, sourceRequests(local));
  const seen = noFacts();
  for (const { name, path, isFolder, isMade } of local) {
    const isMissing = !existsSync(path);
    if (isFolder && isMissing) seen.folders[name] = missing(path);
    else if (isMissing && !isMade) seen.archives[name] = missing(path);
    else if (!isMissing && !isFolder && !isArchive(path)) seen.archives[name] = await readArchive(path, run.signal);
  }
  return seen;
}

const missing = (path: string): UnreadSource => ({ kind: 'missing', detail: `${path} does not exist.` });

/** A warning for each missing source that is also missing from the lock; nodes may already have a locked one. */
export function missingSources({ lock, whereIs }: JudgedFiles, sources: SourceFacts): readonly Diagnostic[] {
  const missingAt = (pointer: string, subject: Subject, { detail }: UnreadArchive): Diagnostic => {
    const where = whereIs?.(pointer);
    const code = subject.kind === 'model' ? 'model/folder-missing' : 'runtime/archive-missing';
    return diagnose(code, { detail, subject, ...given({ where }) });
  };
  const ofFile = ([name, seen]: readonly [string, ArchiveFact | FolderFact]): readonly Diagnostic[] => {
    const [runtime = '', extra] = name.split('/');
    const isLocked = Object.hasOwn(extra === undefined ? lock.runtimes : (lock.runtimeFiles ?? {}), name);
    if (seen.kind === 'known' || isLocked) return [];
    const key = extra === undefined ? 'archive' : extra === requirementsName ? 'requirements' : 'wheels';
    const pointer = runtime === 'gateway' ? '/gateway' : `${pointerTo('/runtimes', runtime)}/${key}`;
    return [missingAt(pointer, runtime === 'gateway' ? namedSubject(runtime) : runtimeSubject(runtime), seen)];
  };
  const isWheels = ([name]: readonly [string, FolderFact]): boolean => name.includes('/');
  const folders = Object.entries(sources.folders);
  return [
    ...[...Object.entries(sources.archives), ...folders.filter(isWheels)].flatMap(ofFile),
    ...folders.flatMap(([name, seen]) =>
      seen.kind === 'known' || name.includes('/')
        ? []
        : [missingAt(`${pointerTo('/models', name)}/source`, modelSubject(name), seen)],
    ),
  ];
}

/** Smaller chunks would make the calls cost more than the hash. */
const chunkBytes = 1_048_576;
/** The Finder creates this file in every folder that it shows; it is never part of a model. */
const finderFile = '.DS_Store';

/** Hashes files and folders on this computer. Shows progress after two seconds. */
export const hashLocal: List<'controller'> = (run, _opened, places) =>
  withProgress(run.console, ['hashing', places], async (done) => {
    const read = noFacts();
    // One after another, because they share a disk.
    for (const { name, path, isFolder } of places) {
      if (isFolder) read.folders[name] = await readFolder(path, run.signal);
      else read.archives[name] = await readArchive(path, run.signal);
      done(name);
    }
    return read;
  });

/** Package lists are shorter than this. */
const longestText = 1_048_576;

const isArchive = (path: string): boolean => /\.(?:tar\.gz|tar\.xz|zip|dmg)$/.test(path);

export async function readArchive(path: string, signal: AbortSignal): Promise<ArchiveFact> {
  try {
    const hashed = await hashFile(path, signal);
    const text = hashed.sizeBytes <= longestText && !isArchive(path) ? await readFile(path, 'utf8') : undefined;
    return { kind: 'known', ...hashed, ...given({ text }) };
  } catch (error) {
    return failure(path, error, signal);
  }
}

/** All files below a folder with digests, or why they are unknown. Refuses links to folders and out of it. */
export async function readFolder(path: string, signal: AbortSignal): Promise<FolderFact> {
  try {
    const files: TreeFile[] = [];
    for await (const inside of filesBelow(path, '')) {
      // One file above the limit is enough to refuse the model.
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
    else if (entry.isSymbolicLink() && !isInside(root, join(root, inside)))
      throw new Error(`${escapeText(inside)} is a link that leads out of it; copy the folder with cp -RL`);
    else yield inside;
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<{ sha256: Digest; sizeBytes: number }> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  const hash = createHash('sha256');
  let sizeBytes = 0;
  signal.throwIfAborted();
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: chunkBytes });
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: digest(hash.digest('hex')), sizeBytes };
}

function failure(path: string, error: unknown, signal: AbortSignal): UnreadSource {
  // After an interruption, the error is unrelated to the file.
  if (signal.aborted) throw error;
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing(path);
  return { kind: 'unreadable', detail: `${path} cannot be read: ${messageOf(error)}.` };
}
