import type { Exit } from '../model/probe.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { Severity } from './code-entry.ts';
import { plainText } from './prose-text.ts';

/** At least one of something. */
export type NonEmpty<T> = readonly [T, ...T[]];

/** What may accompany the diagnostics of a {@link FleetError}. */
interface FleetErrorOptions extends ErrorOptions {
  /** Texts of the files that the diagnostics point into, by file name, so that the marked lines can be shown. */
  readonly sources?: Readonly<Record<string, string>>;
}

/** An expected failure of I/O, carried as diagnostics. Anything else that is thrown is a bug of meshwright. */
export class FleetError extends Error {
  readonly diagnostics: NonEmpty<Diagnostic>;
  readonly sources: Readonly<Record<string, string>>;

  constructor(diagnostics: NonEmpty<Diagnostic>, options?: FleetErrorOptions) {
    super(diagnostics.map((one) => `${one.code}: ${plainText(one.detail)}`).join('\n'), options);
    this.name = 'FleetError';
    this.diagnostics = diagnostics;
    this.sources = options?.sources ?? {};
  }
}

/**
 * Whether this is work for the hands at the rack or at a console (cables, the RDMA switch, a FileVault password), which no
 * program can do. It makes up the work list, and exit code 3 when nothing else is wrong.
 */
export const isHandsWork = ({ hands }: Pick<Diagnostic, 'hands'>): boolean => hands === true;

const order: readonly Severity[] = ['error', 'warning', 'notice'];

/** Whether something is wrong enough to stop. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((one) => one.severity === 'error');

/** `2 errors, 1 warning`: how many there are of each severity; `no problems` for none. */
export function countText(diagnostics: readonly Pick<Diagnostic, 'severity'>[]): string {
  const parts = order.flatMap((severity) => {
    const count = diagnostics.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`];
  });
  return parts.length === 0 ? 'no problems' : parts.join(', ');
}

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
interface CommandFailure {
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
