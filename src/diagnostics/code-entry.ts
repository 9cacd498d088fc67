import type { Prose } from '../model/text/prose.ts';
/** An error stops the run, a warning does not, and a notice is only worth knowing. */
export type Severity = 'error' | 'warning' | 'notice';

/** The registry's entry for a code; `docs/errors.md` is generated from these. */
export interface CodeEntry {
  /** `error` unless given. */
  readonly severity?: Severity;
  /** Constant, without user data, so that readers recognize the kind. */
  readonly summary: string;
  /** Why it happens, for `docs/errors.md`. */
  readonly cause: string;
  /** The default hint. Most rules give a more specific one. */
  readonly hint: Prose;
  /** Set if only a person at the rack or at the Mac's console can repair it. */
  readonly hands?: true;
}

/** A code with its entry, which is all that a diagnostic needs. */
export interface Code extends CodeEntry {
  readonly code: string;
  readonly severity: Severity;
}

/** Entries with their codes. */
export type CodesOf<T extends Readonly<Record<string, CodeEntry>>> = { readonly [K in keyof T]: T[K] & Code };

/** Adds to each entry its code (its key) and the default severity. */
export const defineCodes = <T extends Readonly<Record<string, CodeEntry>>>(entries: T): CodesOf<T> =>
  Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [code, { code, severity: 'error', ...entry }]),
  ) as CodesOf<T>;
