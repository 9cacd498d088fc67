import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LoadedCluster } from '../../config/load-cluster-with.ts';
import { pointerTo } from '../../desired/draft.ts';
import { requirementsName } from '../../desired/settle/python-packages.ts';
import {
  type ArchiveFact,
  absolutePath,
  type FolderFact,
  type SourceFacts,
  type SourceFailure,
  type SourcePlace,
} from '../../desired/settle/settle-trees.ts';
import { mostTreeFiles } from '../../desired/tree-paths.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { driverOf } from '../../drivers/registry.ts';
import { nearestProgram, programsOf } from '../../drivers/runtime-programs.ts';
import type { DesiredDoorman, DesiredFleet, DesiredRuntime } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { modelSubject, namedSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { programsIn } from '../cluster/doubles.ts';
import type { JudgedFiles } from '../cluster/open-cluster.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';

/** For an archive of 400 MB, which takes a few seconds; what takes longer is left to the nodes, which look before a stop. */
const listMs = 20_000;
const longestList = 8_388_608;

/**
 * The paths in an archive by this computer's tar; undefined for what it does not read, such as a disk image.
 *
 * @see tar(1): with a slash before it a colon in `-f` names no other computer
 */
async function listArchive(path: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  if (path.endsWith('.dmg') || !existsSync(path)) return undefined;
  const text = await new Promise<string | undefined>((resolve) => {
    const child = spawn('tar', ['-tf', `./${basename(path)}`], {
      cwd: dirname(path),
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      // A limit of the child's own would go on, and hold the process, where tar could not be started.
      signal: AbortSignal.any([signal, AbortSignal.timeout(listMs)]),
    });
    const parts: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (part: Buffer) => {
      size += part.length;
      if (size > longestList) child.kill();
      else parts.push(part);
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => resolve(code === 0 ? Buffer.concat(parts).toString('utf8') : undefined));
  });
  return text?.split('\n').map((line) => line.replace(/^\.\//, ''));
}

/** What the archives of a file are compared with. */
interface NamedPrograms {
  /** As the file has it, whatever version a runtime was taken back to. */
  readonly fleet: DesiredFleet;
  /** Of the cluster file, absolute. */
  readonly baseFolder: string;
  readonly whereIs: LoadedCluster['whereIs'];
}

/** An error at its key for each program that is not in its archive; archives that cannot be listed here say nothing. */
export async function missingPrograms(
  { fleet, baseFolder, whereIs }: NamedPrograms,
  signal: AbortSignal,
  isMeant: (name: string) => boolean = () => true,
): Promise<readonly Diagnostic[]> {
  const all = programsIn(fleet).filter(({ name }) => isMeant(name));
  const found: Diagnostic[] = [];
  for (const runtime of all) {
    const programs = programsOf(runtime, fleet);
    const members =
      programs.length === 0 ? undefined : await listArchive(absolutePath(baseFolder, runtime.archive), signal);
    const lost = members === undefined ? [] : programs.map((program) => nearestProgram(program, programs, members));
    for (const [index, one] of lost.entries()) {
      const program = programs[index];
      if (one === undefined || program === undefined) continue;
      const where = whereIs?.(pointerOf(runtime, program));
      found.push(
        diagnose('runtime/no-program', {
          subject: 'driver' in runtime ? runtimeSubject(runtime.name) : namedSubject('doorman'),
          detail: escapeText(`${runtime.archive} has no ${program}.`),
          ...(one.path === undefined ? {} : { hint: escapeText(`Did you mean ${one.path}?`) }),
          ...given({ where }),
        }),
      );
    }
  }
  return found;
}

/** The key that names a program; where the file leaves it out its runtime is marked. */
function pointerOf(runtime: DesiredRuntime | DesiredDoorman, program: string): string {
  if (!('driver' in runtime)) return '/doorman/program';
  const key = driverOf(runtime).programKey?.(runtime, program) ?? 'program';
  return `${pointerTo('/runtimes', runtime.name)}/${key}`;
}

/**
 * What is missing of the sources on this computer, and the lists of packages: no archive and no model is read for it, so
 * that it takes no time. Sources that are there and were not read are left out.
 */
export async function seeSources(
  run: Run,
  { archives, folders }: { readonly archives: readonly SourcePlace[]; readonly folders: readonly SourcePlace[] },
): Promise<SourceFacts> {
  const gone = async ({ name, path }: SourcePlace): Promise<readonly (readonly [string, SourceFailure])[]> => {
    try {
      await stat(path);
      return [];
    } catch {
      return [[name, { kind: 'missing', detail: `${path} is not there.` }]];
    }
  };
  const seen = async (place: SourcePlace): Promise<readonly (readonly [string, ArchiveFact])[]> => {
    const failed = await gone(place);
    if (failed.length > 0 || isArchive(place.path)) return failed;
    return [[place.name, await readArchive(place.path, run.signal)]];
  };
  const [files, others] = await Promise.all([Promise.all(archives.map(seen)), Promise.all(folders.map(gone))]);
  return { archives: Object.fromEntries(files.flat()), folders: Object.fromEntries(others.flat()) };
}

/** A warning at its key for each missing source that the lock does not know; nodes may have what it knows. */
export function missingSources({ lock, whereIs }: JudgedFiles, sources: SourceFacts): readonly Diagnostic[] {
  const told = (pointer: string, subject: Subject, { detail }: SourceFailure): Diagnostic => {
    const where = whereIs?.(pointer);
    const code = subject.kind === 'model' ? 'model/folder-missing' : 'runtime/archive-missing';
    return diagnose(code, { detail, subject, ...given({ where }) });
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
  // Without a prototype: `constructor` is a good name for a model.
  const read: { archives: Record<string, ArchiveFact>; folders: Record<string, FolderFact> } = {
    archives: Object.create(null),
    folders: Object.create(null),
  };
  return withProgress(run.console, ['hashing', [...archives, ...folders]], async (done) => {
    // One after another: they share a disk.
    for (const { name, path } of archives) {
      read.archives[name] = await readArchive(path, run.signal);
      done(name);
    }
    for (const { name, path } of folders) {
      read.folders[name] = await readFolder(path, run.signal);
      done(name);
    }
    return read;
  });
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
    return { kind: 'known', ...hashed, ...given({ text }) };
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

function failure(path: string, error: unknown, signal: AbortSignal): Exclude<ArchiveFact, { kind: 'known' }> {
  // An interrupted run says nothing about the file.
  if (signal.aborted) throw error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing', detail: `${path} is not there.` };
  const why = error instanceof Error ? error.message : String(error);
  return { kind: 'unreadable', detail: `${path} cannot be read: ${why}.` };
}
