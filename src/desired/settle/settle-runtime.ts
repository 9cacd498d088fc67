import { diagnose, type GeneralCode } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, LockedArchive, RolledBack, RuntimeKeys, VersionKeys } from '../../model/cluster-lock.ts';
import type {
  BuiltProgram,
  DesiredRuntime,
  ListedPackage,
  RuntimeExtra,
  RuntimeSource,
  UnreadArchive,
} from '../../model/desired.ts';
import { type Digest, digestOf, jsonObject, parsedJson, shortDigest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { upperFirst } from '../../model/text/prose.ts';
import { bytesText } from '../../model/text/units.ts';
import { packageText, sourceFile, sourceText } from '../package-source.ts';
import { releaseName } from '../releases.ts';
import { gatewayTree } from '../resolve.ts';
import type { KeysByDriver } from '../rules/rule.ts';
import { wheelName } from './python-packages.ts';
import {
  type ArchiveFact,
  absolutePath,
  archivePlace,
  extraName,
  notRead,
  own,
  type Settled,
  sourceOf,
  type TreeSources,
} from './settle-trees.ts';

export interface SettledRuntime<R extends RuntimeSource = RuntimeSource> extends Settled<R, LockedArchive> {
  /** Its other files in the lock, keyed by `<runtime>/<name>`. */
  readonly lockedExtras: Readonly<Record<string, LockedArchive>>;
  /** The URL of its archive in the lock, if nodes download it. */
  readonly lockedRelease?: string;
  /** The older version to which the runtime was rolled back, while the rollback is in effect. */
  readonly rolledBack?: RolledBack;
}

/** Adds the digests of a runtime's files: from this computer if they were read here, otherwise from the lock. */
export function settleRuntime<R extends RuntimeSource>(runtime: R, from: TreeSources): SettledRuntime<R> {
  const { lock, baseFolder } = from;
  const archive = archivePlace(baseFolder, runtime);
  const main = settleArchive(runtime, from);
  const settled = runtime.extras.map((extra) => settleExtra(runtime.name, extra, from));
  const isMade = main.failure?.kind === 'to-build' || settled.some(({ file }) => file.failure?.kind === 'to-list');
  const source = settleSource(runtime, from, isMade);
  const extras = settled.map(({ extra, file }) => ({ extra: withSource(extra, source?.now), file }));
  // What is made waits for its source, whose problem comes first.
  const first = runtime.builds === undefined ? [main, source] : [source, main];
  const all = [...first.flatMap((one) => one ?? []), ...extras.map(({ file }) => file)];
  const wanted = {
    ...runtime,
    archive,
    ...given({ builds: runtime.builds && { ...runtime.builds, source: { ...runtime.builds.source, ...source?.now } } }),
    ...main.now,
    extras: extras.map(({ extra, file }) => ({ ...extra, ...file.now })),
  };
  const digest = runtimeDigest(wanted);
  const [unread] = all.flatMap(({ failure }) => failure ?? []);
  const back = own(lock.rolledBack, runtime.name);
  return {
    wanted: { ...versioned(wanted, digest, back), ...given({ unread }) },
    ...(back === undefined || isOver(back, digest) ? {} : { rolledBack: back }),
    ...given({ locked: main.now ?? main.previous, lockedRelease: main.release }),
    lockedExtras: Object.fromEntries([
      ...(source?.now === undefined ? [] : [[source.name, source.now] as const]),
      ...extras.flatMap(({ extra, file: { now } }) =>
        now === undefined ? [] : [[extraName(runtime.name, extra.name), now] as const],
      ),
    ]),
    additions: [
      ...all.flatMap(({ additions }) => additions),
      ...(back !== undefined && isOver(back, digest)
        ? [
            `runtime ${runtime.name}: no longer rolled back to version ${shortDigest(back.to)}, because its archive changed`,
          ]
        : []),
    ],
    diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** A different archive ends a rollback; an archive that could not be read does not. */
const isOver = ({ from }: RolledBack, digest: Digest | undefined): boolean => digest !== undefined && digest !== from;

function versioned<R extends RuntimeSource>(wanted: R, digest: Digest | undefined, back: RolledBack | undefined): R {
  if (digest === undefined) return wanted;
  return back === undefined || isOver(back, digest)
    ? { ...wanted, digest }
    : { ...wanted, digest: back.to, rolledBackFrom: digest };
}

function settleExtra(runtime: string, extra: RuntimeExtra, { lock, sources, baseFolder }: TreeSources) {
  const source = absolutePath(baseFolder, extra.source);
  const name = extraName(runtime, extra.name);
  const seen = own(sources.archives, name) ?? notRead(source);
  // A list that was deleted is made again, even if nodes have the one in the lock.
  const file =
    extra.lists !== undefined && (seen.kind === 'missing' || seen.kind === 'unlisted')
      ? unlistedFile(runtime, { ...extra, lists: extra.lists }, seen)
      : settleFile(runtime, extra.name, seen, own(lock.runtimeFiles, name));
  return { extra: { ...extra, source }, file };
}

/** A list or wheel that does not exist: apply makes it, or has just tried to. */
function unlistedFile(
  runtime: string,
  { name, lists }: RuntimeExtra & { readonly lists: ListedPackage },
  seen: UnreadArchive,
): SettledFile {
  const isWheel = name === wheelName;
  // The list and the wheel are made together, so one message is enough.
  const reported = isWheel ? [] : [noFile(runtime, seen)];
  if (seen.kind === 'unlisted') return { failure: seen, additions: [], diagnostics: reported };
  const wanted = `the ${isWheel ? 'wheel' : 'packages'} of ${packageText(lists)}`;
  return {
    failure: { kind: 'to-list', detail: `${upperFirst(wanted)} ${isWheel ? 'is not built' : 'are not listed'} yet.` },
    additions: [`runtime ${runtime}: ${wanted}, which apply first ${isWheel ? 'builds' : 'lists'} on a node`],
    diagnostics: [],
  };
}

/** An archive of a commit that does not exist: apply builds it, or has just tried to. */
function unbuiltFile(runtime: string, builds: BuiltProgram, seen: UnreadArchive): SettledFile {
  if (seen.kind === 'unbuilt') return { failure: seen, additions: [], diagnostics: [noFile(runtime, seen)] };
  const text = packageText(builds);
  return {
    failure: { kind: 'to-build', detail: `${text} is not built yet.` },
    additions: [`runtime ${runtime}: ${text}, which apply first builds on a node`],
    diagnostics: [],
  };
}

const withSource = (extra: RuntimeExtra, now: LockedArchive | undefined): RuntimeExtra =>
  extra.lists?.source === undefined
    ? extra
    : { ...extra, lists: { ...extra.lists, source: { ...extra.lists.source, ...now } } };

const sourceHint = 'Correct the repository or the commit in `source`. The repository must be public.';

/** The archive of a runtime's commit. The lock's digest is never replaced; without one, it matters only for a build. */
function settleSource(runtime: RuntimeSource, { lock, sources }: TreeSources, isNeeded: boolean) {
  const source = sourceOf(runtime);
  if (source === undefined) return undefined;
  const name = extraName(runtime.name, sourceFile(source));
  const before = own(lock.runtimeFiles, name);
  const read = own(sources.archives, name) ?? notRead(sourceText(source));
  const seen = read.kind === 'no-release' ? { ...read, hint: sourceHint } : read;
  if (before === undefined && seen.kind !== 'known' && !isNeeded) return { name, additions: [], diagnostics: [] };
  const file = settleFile(runtime.name, sourceText(source), before === undefined ? seen : notRead(name), before);
  return { ...file, name };
}

/** Incremented when `build-python` seals more, so that nodes build again. Since 2, package hashes are sealed. */
const pythonBuild = 2;

/** The digest of everything that a runtime tree is made from; if that is only the archive, the archive's digest. */
function runtimeDigest(runtime: RuntimeSource & { readonly python?: string }): Digest | undefined {
  const { sha256, extras } = runtime;
  const others = extras.map((extra) => ({ name: extra.name, sha256: extra.sha256 ?? '' }));
  if (sha256 === undefined || others.some((extra) => extra.sha256 === '')) return undefined;
  const { python = '' } = runtime;
  return others.length === 0 && python === ''
    ? sha256
    : digestOf({ archive: sha256, extras: others, python, pythonBuild });
}

interface SettledFile {
  /** The lock's entry for a different release, while this one is unknown. */
  readonly previous?: LockedArchive;
  readonly release?: string;
  readonly failure?: UnreadArchive;
  readonly now?: LockedArchive;
  readonly additions: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

function settleFile(
  runtime: string,
  word: string,
  seen: ArchiveFact,
  before: LockedArchive | undefined,
  change = `${word} changed`,
): SettledFile {
  const now = seen.kind === 'known' ? { sha256: seen.sha256, sizeBytes: seen.sizeBytes } : before;
  if (now === undefined) {
    return seen.kind === 'known'
      ? { additions: [], diagnostics: [] }
      : { additions: [], diagnostics: [noFile(runtime, seen)], failure: seen };
  }
  const is = `sha256 ${shortDigest(now.sha256)}`;
  const about = word === 'archive' ? `runtime ${runtime}` : `runtime ${runtime}: ${word}`;
  if (before === undefined)
    return { now, additions: [`${about}: ${is}, ${bytesText(now.sizeBytes)}`], diagnostics: [] };
  const isSame = before.sha256 === now.sha256;
  const changed = `runtime ${runtime}: ${change}, ${is} instead of ${shortDigest(before.sha256)}`;
  return { now, additions: isSame ? [] : [changed], diagnostics: [] };
}

/** Adds a release's URL to its archive. While a different release cannot be resolved, the lock keeps its entry. */
function settleArchive(runtime: RuntimeSource, { lock, sources, baseFolder }: TreeSources) {
  const { name, release, builds } = runtime;
  const before = own(lock.runtimes, name);
  const url = own(lock.releases, name);
  const seen = own(sources.archives, name) ?? notRead(archivePlace(baseFolder, runtime));
  if (builds !== undefined && (seen.kind === 'missing' || seen.kind === 'unbuilt')) {
    return { ...unbuiltFile(name, builds, seen), ...given({ previous: before }) };
  }
  if (release === undefined) return settleFile(name, 'archive', seen, before, versionChange(runtime, lock));
  // Without an attempt to resolve it, the lock's entry counts, because it is the version that nodes have.
  const isTried = own(sources.archives, name) !== undefined;
  const file: SettledFile = settleFile(name, 'archive', seen, isTried && url !== release.url ? undefined : before);
  if (file.now === undefined) return { ...file, ...given({ previous: before, release: before && url }) };
  if (seen.kind !== 'known') return { ...file, ...given({ release: url }) };
  return { ...file, release: release.url, additions: releaseAdditions(runtime, file.now, lock) };
}

/** `1.0.71 -> 1.0.72`, if both versions have names. */
function versionChange(runtime: RuntimeSource & Partial<RuntimeKeys>, lock: ClusterLock): string | undefined {
  const { sha256 } = own(lock.runtimes, runtime.name) ?? {};
  const before = sha256 && versionNames(own(lock.runtimeKeys, runtime.name) ?? [])[shortDigest(sha256)];
  const now = versionName(runtime);
  return before === undefined || now === undefined || before === now ? undefined : `${before} -> ${now}`;
}

function releaseAdditions(
  { name, archive }: RuntimeSource,
  { sha256, sizeBytes }: LockedArchive,
  lock: ClusterLock,
): readonly string[] {
  const before = own(lock.runtimes, name);
  const url = own(lock.releases, name);
  const about = `${name === gatewayTree ? 'gateway' : `runtime ${name}`}: ${releaseName(archive)}`;
  if (before?.sha256 === sha256) return url === archive ? [] : [`${about}, the same archive as before`];
  const instead = url === undefined ? before && shortDigest(before.sha256) : releaseName(url);
  return [
    `${about}, sha256 ${shortDigest(sha256)}, ${bytesText(sizeBytes)}${instead === undefined ? '' : `, instead of ${instead}`}`,
  ];
}

const codeByKind: Readonly<Record<UnreadArchive['kind'], { readonly code: GeneralCode }>> = {
  missing: { code: 'runtime/archive-missing' },
  unreadable: { code: 'runtime/archive-unreadable' },
  'no-release': { code: 'runtime/no-release' },
  unresolved: { code: 'runtime/release-unresolved' },
  'to-list': { code: 'runtime/packages-unlisted' },
  unlisted: { code: 'runtime/packages-unlisted' },
  'to-build': { code: 'runtime/not-built' },
  unbuilt: { code: 'runtime/not-built' },
};

export const archiveCode = (kind: UnreadArchive['kind']): GeneralCode => codeByKind[kind].code;

/** True for a file that apply makes before everything else. */
export const isMadeFirst = (unread: UnreadArchive | undefined): boolean =>
  unread?.kind === 'to-list' || unread?.kind === 'to-build';

/** What an apply does before it knows the digest, to follow `after`; undefined for other runtimes. */
export function madeFirst({ name, unread }: Pick<DesiredRuntime, 'name' | 'unread'>): string | undefined {
  if (!isMadeFirst(unread)) return undefined;
  return unread?.kind === 'to-build' ? `${name} is built` : `the packages of ${name} are listed`;
}

const noFile = (runtime: string, { kind, detail, hint }: UnreadArchive): Diagnostic =>
  diagnose(archiveCode(kind), { detail, subject: runtimeSubject(runtime), ...given({ hint }) });

/** The current version, the older one that nodes keep, and one for nodes that were unreachable at the last change. */
const mostVersions = 3;

/** The locked keys of a runtime version; undefined for a version applied by an older meshwright. */
export const keysOfVersion = (
  { runtimeKeys }: Pick<ClusterLock, 'runtimeKeys'>,
  name: string,
  version: Digest | undefined,
): RuntimeKeys | undefined => own(runtimeKeys, name)?.find((one) => one.of === version)?.keys;

/** The keys in the file that a version needs to start its programs and that can differ between versions. */
export const keysOf = (runtime: DesiredRuntime, drivers: KeysByDriver): RuntimeKeys | undefined =>
  drivers.get(runtime.driver)?.ofVersion({ ...runtime });

/** Returns a runtime with another version's keys instead of the file's keys. */
export function withKeys(runtime: DesiredRuntime, keys: RuntimeKeys): DesiredRuntime {
  const { name, archive, release, builds, sha256, sizeBytes, extras, digest, rolledBackFrom } = runtime;
  const source: RuntimeSource = {
    name,
    archive,
    extras,
    ...given({ release, builds, sha256, sizeBytes, digest, rolledBackFrom }),
  };
  return { ...source, ...keys };
}

/** Gives a rolled-back runtime the keys of its version, if the lock has them. Other runtimes are returned unchanged. */
export function withVersionKeys(runtime: DesiredRuntime, lock: Pick<ClusterLock, 'runtimeKeys'>): DesiredRuntime {
  if (runtime.rolledBackFrom === undefined) return runtime;
  const keys = keysOfVersion(lock, runtime.name, runtime.digest);
  return keys?.driver === runtime.driver ? withKeys(runtime, keys) : { ...runtime, hasFileKeys: true };
}

/**
 * The lock's keys for a runtime's versions, the newest last.
 *
 * @param runtime the runtime with the keys in the file, even if it was rolled back
 */
export function lockedKeys(
  runtime: DesiredRuntime,
  lock: Pick<ClusterLock, 'runtimeKeys'>,
  drivers: KeysByDriver,
): readonly VersionKeys[] {
  const before = own(lock.runtimeKeys, runtime.name) ?? [];
  const of = runtime.rolledBackFrom ?? runtime.digest;
  const keys = keysOf(runtime, drivers);
  if (of === undefined || keys === undefined) return before;
  const known = before.find((one) => one.of === of)?.keys;
  // Only runs that read the requirements know the packages.
  const newest = { of, keys: known?.driver === keys.driver ? { ...known, ...keys } : keys };
  return [...before.filter((one) => one.of !== of), newest].slice(-mostVersions);
}

/** The name of a version for people; undefined for an archive without one. */
const versionName = ({ packages, ...keys }: Partial<RuntimeKeys>): string | undefined =>
  'version' in keys && typeof keys.version === 'string' ? keys.version : packages?.['mlx-lm'];

/** The names of these versions, by the first digits of their digests. */
export const versionNames = (versions: readonly VersionKeys[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    versions.flatMap(({ of, keys }) => {
      const name = versionName(keys);
      return name === undefined ? [] : [[shortDigest(of), name] as const];
    }),
  );

/** The lock line of one version. */
export const keysText = ({ of, keys }: VersionKeys): string => `${of} ${JSON.stringify(keys)}`;

/** Parses the keys of a lock line. For invalid keys it returns undefined, as if the lock did not have them. */
export function parseKeys(text: string, drivers: KeysByDriver): RuntimeKeys | undefined {
  const keys = jsonObject(parsedJson(text));
  return typeof keys?.['driver'] === 'string' ? drivers.get(keys['driver'])?.ofVersion(keys) : undefined;
}
