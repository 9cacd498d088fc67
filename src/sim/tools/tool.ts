import type { NodePath, Word } from '../../model/probe.ts';
import type { MacState, SimulatedFleet } from '../model/fleet.ts';

/** The data that a simulated tool can read: its own Mac, and the rack that it sees through its cables. */
export interface ToolView {
  readonly fleet: SimulatedFleet;
  readonly mac: MacState;
}

/** One command line with its complete answer. The type requires a source for each answer. */
export interface Row {
  /** All arguments after the tool's name; a path has the node's root prefix. */
  readonly args: readonly Word[];
  readonly source: Source;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Default 0. */
  readonly exitCode?: number;
  /** A file that the tool reads. If the file was changed since the simulator wrote it, the simulator reads it again. */
  readonly ifUnchanged?: NodePath;
}

/** A family of command lines whose answer contains an argument. */
export interface Pattern {
  /** An sh pattern for `<count>:<arguments>`. */
  readonly match: string;
  /** POSIX sh commands that need no fork. If they do not exit, the command line counts as unknown. */
  readonly body: string;
  readonly source: Source;
}

/** The input of a change: the rack, the caller, and the values of the form's variable parts. */
export interface WriteView extends ToolView {
  readonly isRoot: boolean;
  readonly words: readonly string[];
}

export interface WriteResult {
  readonly after?: Partial<MacState>;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Default 0. */
  readonly exitCode?: number;
  readonly power?: 'restart' | 'off';
}

/** Applies a form. Pure; undefined for invalid arguments, for which the tool prints its usage. */
export type ToolChange = (view: WriteView) => WriteResult | undefined;

/** The tool sends its arguments to the simulator, which makes all changes. */
interface WriteForm {
  /** In the form of a manual page, as for `valuesIn`: `-setmanual SERVICE ADDRESS MASK`. */
  readonly form: string;
  /** An sh pattern for `<count>:<arguments>`, if the form's own pattern is too wide. */
  readonly match?: string;
  /** POSIX sh commands that read the tool's standard input first, and add what the form has after `match` to `$@`. */
  readonly input?: string;
  readonly source: Source;
  /** Source of the refusal without root, if different from `source`. */
  readonly refusalSource?: Source;
  /** Absent if the simulated launchd answers. */
  readonly change?: ToolChange;
}

/** A tool's output on stderr for unknown arguments. */
interface Usage {
  readonly text: string;
  readonly exitCode: number;
  readonly source: Source;
}

/** One simulated tool: a table of command lines. For any other one, it prints its usage and it is recorded. */
export interface Tool {
  readonly path: string;
  /** Whether this Mac has the tool (default: yes). */
  readonly isPresent?: (mac: MacState) => boolean;
  readonly rows?: (view: ToolView) => readonly Row[];
  /** Queries for a list of names, answered in the given order, like `sysctl`. */
  readonly values?: (view: ToolView) => readonly NamedValue[];
  /** Command lines that change something; tried after the rows. */
  readonly writes?: readonly WriteForm[];
  /** Families of command lines; tried last. */
  readonly patterns?: readonly Pattern[];
  readonly usage: Usage;
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
  readonly source: Source;
}

export const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

/** A command line with exit 0 and this output. */
export const row = (args: Row['args'], source: Source, stdout: string): Row => ({ args, source, stdout });

export const usage = (exitCode: number, source: Source, ...texts: readonly string[]): Usage => ({
  text: lines(...texts),
  exitCode,
  source,
});

/** A usage text that this project has not confirmed on a Mac yet. */
export const unconfirmedUsage = (name: string, exitCode: number, ...texts: readonly string[]): Usage =>
  usage(exitCode, from.unconfirmed(`${name}'s usage text and exit code ${exitCode}`), ...texts);

/**
 * The source of an answer's text, with its reliability. `apple`: written by Apple. `capture`: printed by a real Mac and
 * published. `modelled`: written by its publisher, based on real output. `published`: reported without a capture.
 * `unconfirmed`: must still be checked on a Mac (docs/unverified.md).
 */
export interface Source {
  readonly grade: 'apple' | 'capture' | 'modelled' | 'published' | 'unconfirmed';
  /** The document, the publisher or the claim. */
  readonly text: string;
  /** File in `test/cases/sim/captures` with the captured text, against which a test compares the answer. */
  readonly capture?: string;
}

export const from = {
  apple: (text: string): Source => ({ grade: 'apple', text }),
  capture: (capture: string, text: string): Source => ({ grade: 'capture', text, capture }),
  modelled: (capture: string, text: string): Source => ({ grade: 'modelled', text, capture }),
  published: (text: string): Source => ({ grade: 'published', text }),
  unconfirmed: (text: string): Source => ({ grade: 'unconfirmed', text }),
} as const;
