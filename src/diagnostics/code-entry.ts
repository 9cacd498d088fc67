import type { Prose } from '../model/text/prose.ts';
/** How bad it is: an error stops the run, a warning does not, a notice is only worth knowing. */
export type Severity = 'error' | 'warning' | 'notice';

/** What the registry knows of a code; `docs/errors.md` is generated from it. */
export interface CodeEntry {
  /** `error` unless given. */
  readonly severity?: Severity;
  /** Constant, without user data, so that readers recognise the kind. */
  readonly summary: string;
  /** Why it happens, for `docs/errors.md`. */
  readonly cause: string;
  /** The hint of diagnostics that bring none of their own: most rules know more, and say more. */
  readonly hint: Prose;
  /** Set where no program can mend it: somebody has to go to the rack, or to the Mac's own console. */
  readonly hands?: true;
}

/** A code with its entry: a diagnostic is made from it, without knowing any other code. */
export interface Code extends CodeEntry {
  readonly code: string;
  readonly severity: Severity;
}

/** Entries with their codes. */
export type CodesOf<T extends Readonly<Record<string, CodeEntry>>> = { readonly [K in keyof T]: T[K] & Code };

/** Gives each entry the code under which it stands, and a severity. */
export const defineCodes = <T extends Readonly<Record<string, CodeEntry>>>(entries: T): CodesOf<T> =>
  Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [code, { code, severity: 'error', ...entry }]),
  ) as CodesOf<T>;
