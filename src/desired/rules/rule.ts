import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/diagnose.ts';
import type { Runtime as RuntimeSpec } from '../../model/cluster-spec.generated.ts';
import type { DesiredRuntime, RuntimeSource } from '../../model/desired.ts';
import type { Subject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { Draft } from '../draft.ts';

/** One meaning rule: what a file with the right form still has wrong. Pure; `place` puts a pointer into words. */
export type Rule = (draft: Draft, place: PlaceText, drivers: KeysByDriver) => readonly Finding[];

/** A place in the cluster file by its JSON pointer; the lines and columns are known only where the text is. */
export interface FindingPlace {
  readonly pointer: string;
  /** Whether the key is meant; absent: the value. */
  readonly at?: 'key' | 'value';
  /** Some characters of a text value: offsets from 0, `end` excluded. */
  readonly part?: { readonly start: number; readonly end: number };
}

/** What a meaning rule found. */
export interface Finding extends FindingPlace {
  readonly code: DiagnosticCode;
  readonly severity?: Severity;
  readonly detail: string;
  readonly hint?: Prose;
  readonly label?: string;
  readonly subject?: Subject;
  /** Other places that belong to it. */
  readonly others?: readonly (FindingPlace & { readonly detail: string })[];
}

/** Says where a pointer stands, in words: `line 30`. */
export type PlaceText = (place: FindingPlace) => string;

/** What a driver says of the file: the keys of `runtimes` and `placements` that it needs, and those that it takes besides the ones that all have. */
export interface DriverKeys<R extends DesiredRuntime = DesiredRuntime> {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly ofPlacements: readonly string[];
  /** Set where its ranks can talk round a ring, whatever the sharding. */
  readonly talksInRings?: true;
  /** What else can be wrong with these keys, whatever driver the runtime names. */
  readonly rules?: readonly Rule[];
  /** What a runtime has beside the keys of all, defaults filled in. */
  resolve(spec: RuntimeSpec): Omit<R, keyof RuntimeSource> & Partial<Pick<RuntimeSource, 'extras'>>;
  /** Those that belong to one version, of a runtime or of a line of the lock; undefined where one is missing or wrong. */
  ofVersion(keys: Readonly<Record<string, unknown>>): Omit<R, keyof RuntimeSource> | undefined;
  /** Packages of Python without which no rank starts. */
  readonly packages?: readonly string[];
}

/** The keys of each driver, by its name. The list of drivers hands them to what reads the file and the lock. */
export type KeysByDriver = ReadonlyMap<string, DriverKeys>;

/** Every item whose key an earlier one has, with the first of these; an item without a key is left out. */
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
