import type { Severity } from '../../diagnostics/code-entry.ts';
import type { GeneralCode } from '../../diagnostics/diagnose.ts';
import type { Runtime as RuntimeSpec } from '../../model/cluster-spec.generated.ts';
import type { DesiredRuntime, RuntimeSource } from '../../model/desired.ts';
import type { Subject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { Draft } from '../draft.ts';
import type { PublishedArchive, Releases } from '../releases.ts';

/** A rule finds errors that a schema cannot express. It is a pure function; `place` describes a place as text. */
export type FileRule = (draft: Draft, place: PlaceText, drivers: KeysByDriver) => readonly FileFinding[];

/** A place in the cluster file by its JSON pointer. Only the caller knows lines and columns. */
export interface FindingPlace {
  readonly pointer: string;
  /** The key or the value (default). */
  readonly at?: 'key' | 'value';
  /** Part of a text value: offsets from 0, `end` excluded. */
  readonly part?: { readonly start: number; readonly end: number };
}

export interface FileFinding extends FindingPlace {
  readonly code: GeneralCode;
  readonly severity?: Severity;
  readonly detail: string;
  readonly hint?: Prose;
  readonly label?: string;
  readonly subject?: Subject;
  readonly others?: readonly (FindingPlace & { readonly detail: string })[];
}

/** Describes a place as text, for example `line 30`. */
export type PlaceText = (place: FindingPlace) => string;

/** A driver's own keys of `runtimes` (required, optional) and `placements`, in addition to the common keys. */
export interface DriverKeys<R extends DesiredRuntime = DesiredRuntime> {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly ofPlacements: readonly string[];
  /** Set if the driver's ranks can communicate in a ring with any sharding. */
  readonly talksInRings?: true;
  /** Set if a client that disconnects can hang ranks on several nodes, so that clients never reach these directly. */
  readonly needsGateway?: true;
  /** More rules for these keys, whichever driver the runtime names. */
  readonly rules?: readonly FileRule[];
  /** The driver's own values of a runtime, with defaults. */
  resolve(
    spec: RuntimeSpec,
  ): Omit<R, keyof RuntimeSource> & Partial<Pick<RuntimeSource, 'archive' | 'builds' | 'extras'>>;
  /** The values of one version, from a runtime or a lock line; undefined if one is missing or wrong. */
  ofVersion(keys: Readonly<Record<string, unknown>>): Omit<R, keyof RuntimeSource> | undefined;
  /** The runtime's releases: their version can replace `archive`. */
  readonly releases?: Releases;
  /** The archive of the tool that builds the runtime on a node, if the file names none. */
  readonly tool?: PublishedArchive;
  /** Python packages that every rank needs. */
  readonly packages?: readonly string[];
}

/** Each driver's keys, by driver name. The list of drivers provides them to the readers of the file and the lock. */
export type KeysByDriver = ReadonlyMap<string, DriverKeys>;

/** Finds every item with the same key as an earlier item, and returns both. Items without a key are skipped. */
export function repeats<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
): readonly (readonly [item: T, first: T])[] {
  const firsts = new Map<string, T>();
  return items.flatMap((item) => {
    const key = keyOf(item);
    if (key === undefined) return [];
    const first = firsts.get(key);
    if (first !== undefined) return [[item, first] as const];
    firsts.set(key, item);
    return [];
  });
}
