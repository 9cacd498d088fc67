import { isAbsolute, join } from 'node:path';
import type { ClusterLock, LockedModel } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredModel, DesiredRuntime } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import type { Known } from '../../model/known.ts';
import type { TreeFile } from '../../model/node-script.ts';

/** Why nothing is known of a file or folder of this machine; `detail` is a sentence. */
export type SourceFailure = { readonly kind: 'missing' | 'unreadable'; readonly detail: string };

/** What an archive is, as it lies on this machine. */
export type ArchiveFact =
  | {
      readonly kind: 'known';
      readonly sha256: Digest;
      readonly sizeBytes: number;
      /** Of a small file that is no archive. */
      readonly text?: string;
    }
  | SourceFailure;

/** What a folder of a model has in it, as it lies on this machine. */
export type FolderFact = { readonly kind: 'known'; readonly files: readonly TreeFile[] } | SourceFailure;

/** What was read on this machine; see {@link sourcesToRead} for what needs to be. */
export interface SourceFacts {
  /** By name of the runtime; of its other files by {@link extraName}. */
  readonly archives: Readonly<Record<string, ArchiveFact>>;
  /** By name of the model. */
  readonly folders: Readonly<Record<string, FolderFact>>;
  /** By name of the placement: the hash of the key of its published endpoint. */
  readonly keys?: Readonly<Record<string, Known<readonly Digest[]>>>;
}

/** A file or folder to read, by the name of its runtime or model. */
export interface SourcePlace {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

/** A path of the cluster file as an absolute one. */
export const absolutePath = (baseFolder: string, path: string): string =>
  isAbsolute(path) ? path : join(baseFolder, path);

/** What the lock calls a file of a runtime that is not its archive: no name of a runtime has a slash. */
export const extraName = (runtime: string, extra: string): string => `${runtime}/${extra}`;

/** Whether the list of files of a model stands in the lock: it lies on this machine and the file has no list. */
export const isListLocked = ({ source, files }: DesiredModel): boolean =>
  source.kind === 'controller' && files.length === 0;

/** What the lock keeps of a model, if it is about the folder that the file names now. */
function lockedModel({ name, source }: DesiredModel, { models }: Pick<ClusterLock, 'models'>): LockedModel | undefined {
  const locked = Object.hasOwn(models, name) ? models[name] : undefined;
  return source.kind === 'controller' && locked?.source === source.folder ? locked : undefined;
}

/**
 * What has to be read before a fleet can be settled: every archive, and each folder of a model whose files neither the
 * file nor the lock lists. A folder that is locked is not hashed again.
 *
 * @param baseFolder the folder of the cluster file, absolute
 */
export function sourcesToRead(
  fleet: Pick<DesiredFleet, 'runtimes' | 'models' | 'doorman'>,
  lock: Pick<ClusterLock, 'models'>,
  baseFolder: string,
): { readonly archives: readonly SourcePlace[]; readonly folders: readonly SourcePlace[] } {
  const programs = [...fleet.runtimes, ...(fleet.doorman === undefined ? [] : [fleet.doorman])];
  const archives = programs.flatMap(({ name, archive, extras }) => [
    { name, path: absolutePath(baseFolder, archive) },
    ...extras.map((extra) => ({ name: extraName(name, extra.name), path: absolutePath(baseFolder, extra.source) })),
  ]);
  const folders = fleet.models.flatMap((model) => {
    const { name, source } = model;
    if (source.kind !== 'controller' || !isListLocked(model) || lockedModel(model, lock) !== undefined) return [];
    return [{ name, path: absolutePath(baseFolder, source.folder) }];
  });
  const wheels = fleet.runtimes.flatMap((runtime) => wheelFolder(runtime, baseFolder) ?? []);
  return { archives, folders: [...folders, ...wheels] };
}

/** The folder of wheels of a runtime, under a name that no model can have; undefined where it has none. */
export function wheelFolder(runtime: DesiredRuntime, baseFolder: string): SourcePlace | undefined {
  if (runtime.driver !== 'mlx' || runtime.wheels === undefined) return undefined;
  return { name: extraName(runtime.name, 'wheels'), path: absolutePath(baseFolder, runtime.wheels) };
}
