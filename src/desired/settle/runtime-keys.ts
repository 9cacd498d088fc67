import type { ClusterLock, KeptKeys, RuntimeKeys } from '../../model/cluster-lock.ts';
import type { DesiredRuntime, RuntimeSource } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { dialectOf } from '../resolve-placements.ts';
import { isTreePath } from '../tree-paths.ts';

/** Nodes keep one older version of a runtime; one more is for nodes that were out of reach at the last change. */
const keptVersions = 3;

const own = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;

/** What the lock has of a version of a runtime; undefined for one that was applied by an older meshwright. */
export const keptKeys = (
  { runtimeKeys }: Pick<ClusterLock, 'runtimeKeys'>,
  name: string,
  version: Digest | undefined,
): RuntimeKeys | undefined => own(runtimeKeys, name)?.find((one) => one.of === version)?.keys;

/** The keys of the file that belong to one version: without them its programs are started in another version's way. */
export function keysOf(runtime: DesiredRuntime): RuntimeKeys {
  switch (runtime.driver) {
    case 'command': {
      const { driver, command, order, restart, joinedListening, token } = runtime;
      return { driver, command, order, restart, joinedListening, token };
    }
    case 'llamacpp-rpc': {
      const { driver, server, worker, cache } = runtime;
      return { driver, server, worker, cache };
    }
    case 'mlx': {
      const { driver, python, packages } = runtime;
      const mlxLm = packages?.['mlx-lm'];
      return { driver, python, ...(mlxLm === undefined ? {} : { packages: { 'mlx-lm': mlxLm } }) };
    }
    case 'exo': {
      const { driver, version, dialect, program } = runtime;
      return { driver, version, dialect, program };
    }
  }
}

/** A runtime with the keys of another version in place of those of the file. */
export function withKeys(runtime: DesiredRuntime, keys: RuntimeKeys): DesiredRuntime {
  const { name, archive, sha256, sizeBytes, extras, digest, takenBackFrom } = runtime;
  const source: RuntimeSource = {
    name,
    archive,
    extras,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(digest === undefined ? {} : { digest }),
    ...(takenBackFrom === undefined ? {} : { takenBackFrom }),
  };
  return { ...source, ...keys };
}

/** A runtime that was taken back with the keys of that version, where the lock has them; any other one as it is. */
export function withKeptKeys(runtime: DesiredRuntime, lock: Pick<ClusterLock, 'runtimeKeys'>): DesiredRuntime {
  if (runtime.takenBackFrom === undefined) return runtime;
  const keys = keptKeys(lock, runtime.name, runtime.digest);
  return keys?.driver === runtime.driver ? withKeys(runtime, keys) : { ...runtime, hasFileKeys: true };
}

/**
 * What the lock keeps of the versions of a runtime from now on, the newest last.
 *
 * @param runtime as the file has it, whatever version it was taken back to
 */
export function lockedKeys(runtime: DesiredRuntime, lock: Pick<ClusterLock, 'runtimeKeys'>): readonly KeptKeys[] {
  const before = own(lock.runtimeKeys, runtime.name) ?? [];
  const of = runtime.takenBackFrom ?? runtime.digest;
  if (of === undefined) return before;
  const keys = keysOf(runtime);
  const known = before.find((one) => one.of === of)?.keys;
  // Only a run that reads the requirements knows the packages.
  const isUnread = keys.driver === 'mlx' && keys.packages === undefined && known?.driver === 'mlx';
  const kept = { of, keys: isUnread ? { ...keys, ...(known.packages && { packages: known.packages }) } : keys };
  return [...before.filter((one) => one.of !== of), kept].slice(-keptVersions);
}

/** One version as a line of the lock. */
export const keysText = ({ of, keys }: KeptKeys): string => `${of} ${JSON.stringify(keys)}`;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isProgram = (value: unknown): value is string => isText(value) && isTreePath(value);
const isOneOf = <T extends string>(value: unknown, ...words: readonly T[]): value is T =>
  words.some((word) => word === value);

/** The keys of such a line; undefined for anything else, as if the lock did not have them. */
export function parseKeys(text: string): RuntimeKeys | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? readKeys(value) : undefined;
  } catch {
    return undefined;
  }
}

function readKeys(fields: Fields): RuntimeKeys | undefined {
  const { driver, server, worker, cache, python, packages, version, program } = fields;
  switch (driver) {
    case 'command':
      return readCommand(fields);
    case 'llamacpp-rpc':
      return isProgram(server) && isProgram(worker) && isOneOf(cache, 'none', 'verified')
        ? { driver, server, worker, cache }
        : undefined;
    case 'mlx': {
      const mlxLm = isFields(packages) ? packages['mlx-lm'] : undefined;
      if (!isText(python)) return undefined;
      return { driver, python, ...(isText(mlxLm) ? { packages: { 'mlx-lm': mlxLm } } : {}) };
    }
    case 'exo':
      return isText(version) && isProgram(program)
        ? { driver, version, dialect: dialectOf(version), program }
        : undefined;
    default:
      return undefined;
  }
}

function readCommand({ command, order, restart, joinedListening, token }: Fields): RuntimeKeys | undefined {
  if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === 'string')) {
    return undefined;
  }
  if (!isOneOf(order, 'leader-first', 'followers-first', 'together') || !isOneOf(restart, 'group', 'node')) {
    return undefined;
  }
  if (!isText(joinedListening) || !isFields(token)) return undefined;
  const { path, json, golden } = token;
  if (!isText(path) || typeof json !== 'string') return undefined;
  const asked = golden === 'equal' ? ({ path, json, golden } as const) : { path, json };
  return { driver: 'command', command, order, restart, joinedListening, token: asked };
}
