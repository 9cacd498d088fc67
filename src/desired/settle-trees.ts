import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { ClusterLock, LockedArchive } from '../model/cluster-lock.ts';
import type { DesiredModel, DesiredRuntime } from '../model/desired.ts';
import { digestOf, shortDigest } from '../model/digest.ts';
import type { TreeFile } from '../model/node-script.ts';
import { bytesText } from './amounts.ts';
import { absolutePath, isListLocked, type SourceFacts, type SourceFailure } from './source-facts.ts';
import { collisionsOf, isTreePath, mostTreeFiles } from './tree-paths.ts';

/** One runtime or model of the file, what the lock keeps of it, and what is to be said. */
interface Settled<Wanted, Locked> {
  readonly wanted: Wanted;
  readonly locked?: Locked;
  readonly additions: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What settling is made from. */
export interface TreeSources {
  readonly lock: ClusterLock;
  readonly sources: SourceFacts;
  readonly baseFolder: string;
}

const own = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** A runtime with the digest of its archive: of the bytes on this machine, else of the lock. */
export function settleRuntime(
  runtime: DesiredRuntime,
  { lock, sources, baseFolder }: TreeSources,
): Settled<DesiredRuntime, LockedArchive> {
  const archive = absolutePath(baseFolder, runtime.archive);
  const before = own(lock.runtimes, runtime.name);
  const seen = own(sources.archives, runtime.name) ?? notRead(archive);
  const now = seen.kind === 'known' ? { sha256: seen.sha256, sizeBytes: seen.sizeBytes } : before;
  if (now === undefined) {
    const diagnostics = seen.kind === 'known' ? [] : [noArchive(runtime.name, seen)];
    return { wanted: { ...runtime, archive }, additions: [], diagnostics };
  }
  return {
    wanted: { ...runtime, archive, ...now },
    locked: now,
    additions: archiveAdditions(runtime.name, before, now),
    diagnostics: [],
  };
}

const notRead = (path: string): SourceFailure => ({ kind: 'unreadable', detail: `${path} was not read.` });

function archiveAdditions(name: string, before: LockedArchive | undefined, now: LockedArchive): readonly string[] {
  const is = `sha256 ${shortDigest(now.sha256)}`;
  if (before === undefined) return [`runtime ${name}: ${is}, ${bytesText(now.sizeBytes)}`];
  if (before.sha256 === now.sha256) return [];
  return [`runtime ${name}: archive changed, ${is} instead of ${shortDigest(before.sha256)}`];
}

const noArchive = (name: string, { kind, detail }: SourceFailure): Diagnostic =>
  diagnose(kind === 'missing' ? 'runtime/archive-missing' : 'runtime/archive-unreadable', {
    detail,
    subject: `runtime ${name}`,
  });

/** A model with its list of files: of the file, else of the folder that was read, else of the lock. */
export function settleModel(
  model: DesiredModel,
  { lock, sources, baseFolder }: TreeSources,
): Settled<DesiredModel, readonly TreeFile[]> {
  const { name, source } = model;
  const placed: DesiredModel =
    source.kind === 'controller'
      ? { ...model, source: { kind: 'controller', folder: absolutePath(baseFolder, source.folder) } }
      : model;
  if (!isListLocked(model)) return { wanted: withDigest(placed, model.files), additions: [], diagnostics: [] };
  const before = own(lock.models, name);
  const seen = own(sources.folders, name);
  const now = seen?.kind === 'known' ? sorted(seen.files) : before;
  const diagnostics =
    seen?.kind === 'known'
      ? folderProblems(name, seen.files)
      : now === undefined
        ? [noFolder(name, seen ?? notRead(`The folder of ${name}`))]
        : [];
  if (now === undefined || diagnostics.length > 0) return { wanted: placed, additions: [], diagnostics };
  const wanted = withDigest(placed, now);
  return { wanted, locked: now, additions: listAdditions(wanted, before), diagnostics };
}

const withDigest = (model: DesiredModel, files: readonly TreeFile[]): DesiredModel => ({
  ...model,
  files,
  digest: listDigest(files),
});

/** What a model is, on every node: the digest of its list of files. */
const listDigest = (files: readonly TreeFile[]) =>
  digestOf(files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })));

const sorted = (files: readonly TreeFile[]): readonly TreeFile[] =>
  [...files].sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));

function listAdditions(
  { name, files, digest }: DesiredModel,
  before: readonly TreeFile[] | undefined,
): readonly string[] {
  if (before !== undefined && listDigest(before) === digest) return [];
  const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const list = `${files.length === 1 ? 'one file' : `${files.length} files`}, ${bytesText(bytes)}`;
  return [`model ${name}: ${before === undefined ? list : `files changed, now ${list}`}`];
}

function noFolder(name: string, { kind, detail }: SourceFailure): Diagnostic {
  const code: DiagnosticCode = kind === 'missing' ? 'model/folder-missing' : 'model/folder-unreadable';
  return diagnose(code, { detail, subject: `model ${name}` });
}

const shownAtMost = 8;

function folderProblems(name: string, files: readonly TreeFile[]): readonly Diagnostic[] {
  const subject = `model ${name}`;
  if (files.length === 0) return [diagnose('model/folder-empty', { detail: `Model ${name} has no file.`, subject })];
  if (files.length > mostTreeFiles) {
    const detail = `Model ${name} has ${files.length} files; up to ${mostTreeFiles} are brought to a node.`;
    return [diagnose('model/too-many-files', { detail, subject })];
  }
  const paths = files.map((file) => file.path).sort();
  const bad = paths.filter((path) => !isTreePath(path));
  const collisions = collisionsOf(paths).map(({ path, other }) => `${other} and ${path}`);
  return [
    ...(bad.length === 0 ? [] : [diagnose('model/bad-file-name', { detail: `${someOf(bad)}.`, subject })]),
    ...(collisions.length === 0
      ? []
      : [diagnose('model/path-collision', { detail: `${someOf(collisions)}.`, subject })]),
  ];
}

const someOf = (texts: readonly string[]): string =>
  texts.length <= shownAtMost
    ? texts.join(', ')
    : `${texts.slice(0, shownAtMost).join(', ')} and ${texts.length - shownAtMost} more`;
