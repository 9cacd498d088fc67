import type { Prose } from '../model/prose.ts';
/** How bad it is: an error stops the run, a warning does not, a notice is only worth knowing. */
export type Severity = 'error' | 'warning' | 'notice';

/** What the registry knows of a code; `docs/errors.md` is generated from it. */
export interface CodeEntry {
  readonly severity: Severity;
  /** Constant, without user data, so that readers recognise the kind. */
  readonly summary: string;
  /** Why it happens, for `docs/errors.md`. */
  readonly cause: string;
  /** Default hint; a caller that knows more says more. */
  readonly hint: Prose;
  /** Set where no program can mend it: somebody has to go to the rack, or to the Mac's own console. */
  readonly hands?: true;
}
