import type { NodePath, Word } from '../../model/probe.ts';
import type { MacState, SimulatedFleet } from '../model/fleet.ts';

/** What a simulated tool can look at: the Mac on which it runs, and the rest of the rack behind its cables. */
export interface View {
  readonly fleet: SimulatedFleet;
  readonly mac: MacState;
}

/** One command line with its whole answer. A row without a source does not compile. */
export interface Row {
  /** Every argument after the tool's name; a path arrives with the node's root prefix before it. */
  readonly args: readonly Word[];
  readonly source: Source;
  readonly stdout?: string;
  readonly stderr?: string;
  /** 0 when absent. */
  readonly exitCode?: number;
  /** A file that the tool reads: when it is no longer as the simulator wrote it, the simulator reads it again. */
  readonly ifUnchanged?: NodePath;
}

/** A family of command lines whose answer repeats an argument. */
export interface Pattern {
  /** A pattern of sh for `<count>:<arguments>`. */
  readonly match: string;
  /** Commands of POSIX sh without a fork. One that does not exit lets the command line count as unknown. */
  readonly body: string;
  readonly source: Source;
}

/** What a form that changes something looks at: the rack, who asks, and the words in the open places of the form. */
export interface WriteView extends View {
  readonly isRoot: boolean;
  readonly words: readonly string[];
}

/** What a tool says, and what it has changed. */
export interface WriteResult {
  /** The parts of the Mac that are others afterwards. */
  readonly after?: Partial<MacState>;
  readonly stdout?: string;
  readonly stderr?: string;
  /** 0 when absent. */
  readonly exitCode?: number;
  /** What then happens to the Mac as a whole. */
  readonly power?: 'restart' | 'off';
}

/** What a form does. Pure; undefined for words that the tool does not know: it prints its usage. */
export type Change = (view: WriteView) => WriteResult | undefined;

/** A family of command lines that change something. The simulator alone changes the state: the tool hands its words over. */
interface WriteForm {
  /** As a manual page writes them, and as `valuesIn` reads them: `-setmanual SERVICE ADDRESS MASK`. */
  readonly form: string;
  /** A pattern of sh for `<count>:<arguments>`, where that of the form is too wide. */
  readonly match?: string;
  readonly source: Source;
  /** Where its refusal of a user without root comes from, if not from there. */
  readonly refusalSource?: Source;
  /** Absent where launchd answers. */
  readonly change?: Change;
}

/** What a tool prints on stderr for arguments that it does not know. */
interface Usage {
  readonly text: string;
  readonly exitCode: number;
  readonly source: Source;
}

/** One simulated tool: a table of the command lines that it knows. Any other one gets the usage, and is written down. */
export interface Tool {
  readonly path: string;
  /** Whether this Mac has the tool; always when absent. */
  readonly isPresent?: (mac: MacState) => boolean;
  /** What reads. */
  readonly rows?: (view: View) => readonly Row[];
  /** What reads a list of names in the order in which they are asked, as `sysctl` does. */
  readonly values?: (view: View) => readonly NamedValue[];
  /** What changes something; tried after the rows. */
  readonly writes?: readonly WriteForm[];
  /** Tried last. */
  readonly patterns?: readonly Pattern[];
  readonly usage: Usage;
}

/** One name with the value that is printed for it. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
  readonly source: Source;
}

/** Lines as a tool prints them, each with its end. */
export const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

/** A command line that ends with 0, and what it prints. */
export const row = (args: Row['args'], source: Source, stdout: string): Row => ({ args, source, stdout });

/** The answer to arguments that a tool does not know. */
export const usage = (exitCode: number, source: Source, ...texts: readonly string[]): Usage => ({
  text: lines(...texts),
  exitCode,
  source,
});

/** A usage text that is not yet confirmed on a Mac for this project. */
export const unconfirmedUsage = (name: string, exitCode: number, ...texts: readonly string[]): Usage =>
  usage(exitCode, from.unconfirmed(`${name}'s usage text and exit code ${exitCode}`), ...texts);

/**
 * Where the text of an answer comes from, and how far it can be relied on: `apple` is written by Apple, `capture` was
 * printed by a real Mac and published, `modelled` was written after real output by its publisher, `published` was
 * reported without a capture, `unconfirmed` still waits for a check on a Mac (docs/unverified.md).
 */
export interface Source {
  readonly grade: 'apple' | 'capture' | 'modelled' | 'published' | 'unconfirmed';
  /** Document, publisher or claim. */
  readonly text: string;
  /** The captured text in `test/cases/sim/captures`, which the answer is compared with. */
  readonly capture?: string;
}

/** A source of each grade. */
export const from = {
  apple: (text: string): Source => ({ grade: 'apple', text }),
  capture: (capture: string, text: string): Source => ({ grade: 'capture', text, capture }),
  modelled: (capture: string, text: string): Source => ({ grade: 'modelled', text, capture }),
  published: (text: string): Source => ({ grade: 'published', text }),
  unconfirmed: (text: string): Source => ({ grade: 'unconfirmed', text }),
} as const;
