import type { Exit } from '../model/exit.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { Severity } from './code-entry.ts';

/** A place in a file. Lines and columns count from 1; a column counts UTF-16 code units. */
export interface SourceRange {
  readonly file: string;
  /** JSON pointer of the value, where there is one. */
  readonly pointer?: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A command on a node that failed, kept whole so that nobody must match on a message. */
export interface CommandFailure {
  readonly argv: readonly string[];
  readonly exit: Exit;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One problem as a value. The hint is required: a problem without a way out is not worth printing. */
export interface Diagnostic {
  /** As the definition of the code has it: `cabling/missing`. */
  readonly code: string;
  readonly severity: Severity;
  /** Constant per code, without user data, so that readers recognise the kind. */
  readonly summary: string;
  /** Full sentences: what, then why. */
  readonly detail: Prose;
  /** What to do now. */
  readonly hint: Prose;
  readonly where?: SourceRange;
  /** A few words set under the underlined source, such as `already carries line 30`. */
  readonly label?: string;
  /** What it is about: `node studio-3`, `link studio-1:2 <-> studio-4:1`. */
  readonly subject?: Subject;
  /** The Macs at which hands work on it, where its subject names others as well. */
  readonly handsAt?: readonly string[];
  readonly command?: CommandFailure;
  readonly related: readonly Diagnostic[];
  /** Set where only a person can repair it, at the rack or at the Mac's own console. */
  readonly hands?: true;
}
