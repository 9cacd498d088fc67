import type { Answer } from '../model/probe.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { CodeEntry, Severity, Trait } from './code-entry.ts';
import { plainText } from './prose-text.ts';

export type NonEmpty<T> = readonly [T, ...T[]];

interface FleetErrorOptions extends ErrorOptions {
  /** Texts of the files that the diagnostics refer to, by file name, for showing the marked lines. */
  readonly sources?: Readonly<Record<string, string>>;
}

/** An expected I/O failure, with its diagnostics. Any other thrown error is a bug in meshwright. */
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

/** An error's system code, such as `ENOENT`. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** True if a problem or its code has this trait. */
export const hasTrait = (one: Pick<CodeEntry, 'traits'> | undefined, trait: Trait): boolean =>
  one?.traits?.includes(trait) === true;

/** True if the problem needs a person at the rack or a console. If nothing else is wrong, the exit code is 3. */
export const isHandsWork = (one: Pick<Diagnostic, 'traits'>): boolean => hasTrait(one, 'hands');

/** All severities, worst first. */
export const severities: readonly Severity[] = ['error', 'warning', 'notice'];

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((one) => one.severity === 'error');

/** Counts diagnostics by severity: `2 errors, 1 warning`, or `no problems`. */
export function countText(diagnostics: readonly Pick<Diagnostic, 'severity'>[]): string {
  const parts = severities.flatMap((severity) => {
    const count = diagnostics.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`];
  });
  return parts.length === 0 ? 'no problems' : parts.join(', ');
}

/** A range in a file. Lines and columns count from 1; a column is a UTF-16 code unit. */
export interface SourceRange {
  readonly file: string;
  /** The value's JSON pointer, if it has one. */
  readonly pointer?: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A failed command on a node, as data, so that no code has to parse messages. */
interface CommandFailure extends Pick<Answer, 'exit' | 'stdout' | 'stderr'> {
  readonly argv: readonly string[];
  readonly durationMs: number;
}

/** One problem as data. The hint is required: every problem has a next step. */
export interface Diagnostic extends Pick<CodeEntry, 'exit' | 'traits'> {
  /** The code, for example `cabling/missing`. */
  readonly code: string;
  readonly severity: Severity;
  /** The same for every diagnostic with this code, so that readers recognize the kind of problem. */
  readonly summary: string;
  /** Full sentences: what is wrong, then why. */
  readonly detail: Prose;
  readonly hint: Prose;
  readonly where?: SourceRange;
  /** A few words next to the underlined source, for example `already carries line 30`. */
  readonly label?: string;
  /** What the problem is about, for example `node studio-3` or `link studio-1:2 <-> studio-4:1`. */
  readonly subject?: Subject;
  /** The Macs that need the manual step, if the subject also names other Macs. */
  readonly handsAt?: readonly string[];
  readonly command?: CommandFailure;
  readonly related: readonly Diagnostic[];
}
