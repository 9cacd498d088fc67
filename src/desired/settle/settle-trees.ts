import { isAbsolute, join } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, LockedModel } from '../../model/cluster-lock.ts';
import type {
  DesiredDownloads,
  DesiredFleet,
  DesiredModel,
  DesiredRuntime,
  HubSource,
  ModelSource,
  PackageSource,
  Release,
  RuntimeSource,
  SourceKind,
  UnreadArchive,
  UnreadSource,
} from '../../model/desired.ts';
import { type Digest, digestOf } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { Known } from '../../model/known.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { bytesText } from '../../model/text/units.ts';
import { commitSource } from '../hub-source.ts';
import { sourceFile, sourceRelease } from '../package-source.ts';
import { collisionsOf, isTreePath, mostTreeFiles } from '../tree-paths.ts';

/** A runtime or model with its lock entry, the additions to the lock and its problems. */
export interface Settled<Wanted, Locked> {
  readonly wanted: Wanted;
  readonly locked?: Locked;
  readonly additions: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface TreeSources {
  readonly lock: ClusterLock;
  readonly sources: SourceFacts;
  readonly baseFolder: string;
  readonly downloads?: DesiredDownloads | undefined;
}

/** Looks up only a map's own property, because names such as `constructor` are valid. */
export const own = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;

export const notRead = (path: string): UnreadSource => ({ kind: 'unreadable', detail: `${path} was not read.` });

/** Adds the list of files to a model: from the cluster file, the folder that was read, or the lock, in this order. */
export function settleModel(
  model: DesiredModel,
  { lock, sources, baseFolder, downloads }: TreeSources,
): Settled<DesiredModel, LockedModel> {
  const { name, source } = model;
  if (model.hub !== undefined) return settleHub({ ...model, hub: model.hub }, { lock, sources, downloads });
  const placed: DesiredModel =
    source.kind === 'controller'
      ? { ...model, source: { kind: 'controller', folder: absolutePath(baseFolder, source.folder) } }
      : model;
  const listed = listedSource(model);
  if (listed === undefined) {
    return { wanted: withDigest(placed, model.files), additions: [], diagnostics: [] };
  }
  const before = own(lock.models, name);
  const { files, diagnostics, unread } = listOf(model, own(sources.folders, name), before);
  if (files === undefined || diagnostics.length > 0) {
    // If a new folder cannot be read yet, the lock keeps its entry.
    const locked = before === undefined ? {} : { locked: before };
    return { wanted: { ...placed, ...given({ unread }) }, ...locked, additions: [], diagnostics };
  }
  const wanted = withDigest(placed, files);
  const locked = { source: listed, files };
  return { wanted, locked, additions: listAdditions(wanted, locked, before), diagnostics };
}

/** Adds the commit and the files of a repository: as just resolved, or from the lock. */
function settleHub(
  model: DesiredModel & { readonly hub: HubSource },
  { lock, sources, downloads }: Pick<TreeSources, 'lock' | 'sources' | 'downloads'>,
): Settled<DesiredModel, LockedModel> {
  const { name, hub } = model;
  const before = own(lock.models, name);
  const known = before?.source === hub.text ? before : undefined;
  const seen = own(sources.folders, name);
  const found = seen?.kind === 'known' ? seen : known;
  const problems = seen?.kind === 'known' ? folderProblems(name, seen.files) : [];
  if (found?.commit === undefined || problems.length > 0) {
    const unread = seen === undefined || seen.kind === 'known' ? notRead(`hf:${hub.repository}`) : seen;
    const diagnostics = problems.length > 0 ? problems : [noFolder(name, unread)];
    // The list for another source of this model is kept until the new source is resolved.
    return { wanted: { ...model, unread }, ...given({ locked: before }), additions: [], diagnostics };
  }
  const files = sorted(found.files);
  const { commit, access } = found;
  const source = { ...commitSource(hub.repository, commit, downloads), ...given({ access }) };
  const wanted = withDigest({ ...model, source, hub: { ...hub, commit } }, files);
  const locked = { source: hub.text, commit, ...given({ access }), files };
  return { wanted, locked, additions: hubAdditions(wanted, locked, before), diagnostics: [] };
}

function hubAdditions(model: DesiredModel, now: LockedModel, before: LockedModel | undefined): readonly string[] {
  const listed = listAdditions(model, now, before);
  if (before?.commit === now.commit || now.commit === undefined) return listed;
  const is = `commit ${now.commit.slice(0, 12)}`;
  const instead = before?.commit === undefined ? '' : ` instead of ${before.commit.slice(0, 12)}`;
  return [...listed, `model ${model.name}: ${is}${instead}`];
}

/**
 * The files in the folder or in the lock. The lock's list for another folder counts only if this folder is on this
 * computer and was not tried.
 */
function listOf(
  model: DesiredModel,
  seen: FolderFact | undefined,
  before: LockedModel | undefined,
): {
  readonly files?: readonly TreeFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly unread?: UnreadSource;
} {
  const { name, source } = model;
  if (seen?.kind === 'known') return { files: sorted(seen.files), diagnostics: folderProblems(name, seen.files) };
  const isOnNodes = source.kind === 'node';
  const isOther = before?.source !== listedSource(model);
  if (before !== undefined && !(isOther && (seen || isOnNodes))) return { files: before.files, diagnostics: [] };
  const unread = seen ?? (isOnNodes ? notListed(name, source.folder) : notRead(`The folder of ${name}`));
  return { diagnostics: [noFolder(name, unread)], unread };
}

const notListed = (name: string, folder: string): UnreadSource => ({
  kind: 'unresolved',
  detail: `The lock does not list the files in ${folder} on the nodes.`,
  hint: prose`To list them: ${meshwright('models lock', name)}`,
});

const withDigest = (model: DesiredModel, files: readonly TreeFile[]): DesiredModel => ({
  ...model,
  files,
  digest: listDigest(files),
});

/** A model's version on every node: the digest of its list of files. */
const listDigest = (files: readonly TreeFile[]) =>
  digestOf(files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })));

const sorted = (files: readonly TreeFile[]): readonly TreeFile[] =>
  [...files].sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));

function listAdditions(
  { name, digest }: DesiredModel,
  { source, files }: LockedModel,
  before: LockedModel | undefined,
): readonly string[] {
  const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const list = `${files.length === 1 ? 'one file' : `${files.length} files`}, ${bytesText(bytes)}`;
  if (before === undefined) return [`model ${name}: ${list}`];
  if (listDigest(before.files) !== digest) return [`model ${name}: files changed, now ${list}`];
  return before.source === source ? [] : [`model ${name}: the same files, from ${source}`];
}

export function unreadModelCode({ kind }: Pick<UnreadSource, 'kind'>) {
  if (kind === 'unresolved') return 'model/unresolved';
  return kind === 'missing' ? 'model/folder-missing' : 'model/folder-unreadable';
}

function noFolder(name: string, unread: UnreadSource): Diagnostic {
  const { detail, hint } = unread;
  return diagnose(unreadModelCode(unread), { detail, subject: modelSubject(name), ...given({ hint }) });
}

const shownAtMost = 8;

function folderProblems(name: string, files: readonly TreeFile[]): readonly Diagnostic[] {
  const subject = modelSubject(name);
  if (files.length === 0)
    return [diagnose('model/folder-empty', { detail: `The folder of model ${name} has no files.`, subject })];
  if (files.length > mostTreeFiles) {
    const detail = `Model ${name} has ${files.length} files; the limit is ${mostTreeFiles} files.`;
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

/** An archive on this computer or on a server. */
export type ArchiveFact =
  | {
      readonly kind: 'known';
      readonly sha256: Digest;
      readonly sizeBytes: number;
      /** The text of a small file that is not an archive. */
      readonly text?: string;
    }
  | UnreadArchive;

/** The files of a model or a folder, wherever they are; those of a repository with the commit of its revision. */
export type FolderFact = ({ readonly kind: 'known' } & Pick<LockedModel, 'access' | 'commit' | 'files'>) | UnreadSource;

/** The files and releases that were read; {@link sourcesToRead} lists them. */
export interface SourceFacts {
  /** Keyed by runtime name, or by {@link extraName} for a runtime's other files. */
  readonly archives: Readonly<Record<string, ArchiveFact>>;
  /** Keyed by model name. */
  readonly folders: Readonly<Record<string, FolderFact>>;
  /** The hashes of each published endpoint's API keys, by placement name. */
  readonly keys?: Readonly<Record<string, Known<readonly Digest[]>>>;
}

/** A file or folder on this computer, with the name of its runtime or model. */
export interface LocalPlace {
  readonly kind: 'controller';
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly isFolder?: true;
  /** Set if `apply` makes the file. */
  readonly isMade?: true;
}

/** A release to resolve, with the name of its runtime; or a commit's archive, with its name among the runtime's files. */
export interface ReleasePlace {
  readonly kind: 'release';
  readonly name: string;
  readonly release: Release;
}

/** What is to be listed of a source of this kind, with the name of its runtime or model. */
export type PlaceOf<K extends SourceKind> = Extract<
  | LocalPlace
  | ReleasePlace
  | { readonly kind: 'hub'; readonly name: string; readonly hub: HubSource }
  /** The base URL is the mirror's if there is one. */
  | { readonly kind: 'url'; readonly name: string; readonly base: string }
  | { readonly kind: 'node'; readonly name: string; readonly source: Extract<ModelSource, { kind: 'node' }> },
  { readonly kind: K }
>;
export type SourcePlace = PlaceOf<SourceKind>;

/** The path of an archive on this computer; the URL of a release. */
export const archivePlace = (baseFolder: string, { archive, release }: Pick<RuntimeSource, 'archive' | 'release'>) =>
  release === undefined ? absolutePath(baseFolder, archive) : archive;

/** Resolves a path in the cluster file. */
export const absolutePath = (baseFolder: string, path: string): string =>
  isAbsolute(path) ? path : join(baseFolder, path);

/** The lock's name for a runtime file other than the archive. It is unique, because runtime names have no slash. */
export const extraName = (runtime: string, extra: string): string => `${runtime}/${extra}`;

/** The lock's name for the source whose files it lists; undefined if the cluster file itself lists them. */
export function listedSource({ source, hub, files, listedAt }: DesiredModel): string | undefined {
  if (hub !== undefined) return hub.text;
  if (files.length > 0 || listedAt !== undefined) return listedAt;
  if (source.kind === 'controller') return source.folder;
  return source.kind === 'node' ? `node:${source.folder}` : undefined;
}

/** The commit that a runtime is built from; undefined if it comes from a release, an archive or an index. */
export const sourceOf = ({ builds, extras }: Pick<RuntimeSource, 'builds' | 'extras'>): PackageSource | undefined =>
  builds?.source ?? extras.find(({ lists }) => lists?.source !== undefined)?.lists?.source;

/** True if the lock's digest of a runtime's archive is that of this release. */
export const isReleaseLocked = (
  { runtimes, releases }: Pick<ClusterLock, 'runtimes' | 'releases'>,
  { name, release }: Pick<ReleasePlace, 'name' | 'release'>,
): boolean => own(runtimes, name) !== undefined && own(releases, name) === release.url;

/**
 * Lists what to read before a fleet can be settled: every archive on this computer, every release that is not in the
 * lock, and the source of each model whose files are listed neither in the cluster file nor in the lock. A locked folder
 * is not hashed again.
 *
 * @param baseFolder the folder of the cluster file, absolute
 */
export function sourcesToRead(
  fleet: Pick<DesiredFleet, 'runtimes' | 'models' | 'gateway' | 'downloads'>,
  lock: Pick<ClusterLock, 'models' | 'runtimes' | 'releases' | 'runtimeFiles'>,
  baseFolder: string,
): readonly SourcePlace[] {
  const programs = [...fleet.runtimes, ...(fleet.gateway === undefined ? [] : [fleet.gateway])];
  const local = (name: string, path: string) =>
    ({ kind: 'controller', name, path: absolutePath(baseFolder, path) }) as const;
  const released = (name: string, release: Release) => ({ kind: 'release', name, release }) as const;
  const archives = programs.flatMap(({ name, archive, release, builds, extras }): readonly LocalPlace[] => [
    ...(release === undefined ? [{ ...local(name, archive), ...madeIf(builds) }] : []),
    ...extras.map(({ name: extra, source, lists }) => ({ ...local(extraName(name, extra), source), ...madeIf(lists) })),
  ]);
  const models = fleet.models.flatMap((model) => {
    const listed = listedSource(model);
    const isLocked = own(lock.models, model.name)?.source === listed;
    return listed === undefined || isLocked ? [] : (modelPlace(model, baseFolder) ?? []);
  });
  const wheels = fleet.runtimes.flatMap((runtime) => wheelFolder(runtime, baseFolder) ?? []);
  const releases = programs
    .flatMap(({ name, release }) => (release === undefined ? [] : released(name, release)))
    .filter((one) => !isReleaseLocked(lock, one));
  const commits = fleet.runtimes.flatMap((runtime) => {
    const source = sourceOf(runtime);
    const name = source && extraName(runtime.name, sourceFile(source));
    if (source === undefined || name === undefined || own(lock.runtimeFiles, name) !== undefined) return [];
    return [released(name, sourceRelease(source, fleet.downloads))];
  });
  return [...archives, ...models, ...wheels, ...releases, ...commits];
}

function modelPlace({ name, source, hub }: DesiredModel, baseFolder: string): SourcePlace | undefined {
  switch (source.kind) {
    case 'controller':
      return { kind: 'controller', name, path: absolutePath(baseFolder, source.folder), isFolder: true };
    case 'node':
      return { kind: 'node', name, source };
    case 'url':
      return { kind: 'url', name, base: source.base };
    case 'hub':
      return hub && { kind: 'hub', name, hub };
  }
}

const madeIf = (made: object | undefined): Pick<LocalPlace, 'isMade'> => (made === undefined ? {} : { isMade: true });

/** A runtime's folder of wheels, under a name that no model can have; undefined if the runtime has no such folder. */
export function wheelFolder(runtime: DesiredRuntime, baseFolder: string): LocalPlace | undefined {
  if (runtime.wheels === undefined) return undefined;
  const path = absolutePath(baseFolder, runtime.wheels);
  return { kind: 'controller', name: extraName(runtime.name, 'wheels'), path, isFolder: true };
}
