import type { Prose } from '../model/text/prose.ts';
/** An error stops the run, a warning does not, and a notice is only for information. */
export type Severity = 'error' | 'warning' | 'notice';

/** A code's entry in the registry; `docs/errors.md` is generated from these entries. */
export interface CodeEntry {
  /** `error` unless given. */
  readonly severity?: Severity;
  /** Always the same text without user data, so that readers recognize the kind of problem. */
  readonly summary: string;
  /** Why the problem occurs, for `docs/errors.md`. */
  readonly cause: string;
  /** The default hint, which most rules replace with a more specific one. */
  readonly hint: Prose;
  /** Set if only a person at the rack or at the Mac's console can fix the problem. */
  readonly hands?: true;
}

/** A code with its entry: everything that a diagnostic needs. */
export interface Code extends CodeEntry {
  readonly code: string;
  readonly severity: Severity;
}

/** Entries with their codes. */
export type CodesOf<T extends Readonly<Record<string, CodeEntry>>> = { readonly [K in keyof T]: T[K] & Code };

/** Adds the code (the entry's key) and the default severity to each entry. */
export const defineCodes = <T extends Readonly<Record<string, CodeEntry>>>(entries: T): CodesOf<T> =>
  Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [code, { code, severity: 'error', ...entry }]),
  ) as CodesOf<T>;
