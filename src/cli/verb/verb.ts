import type { RunLog } from '../files/run-log.ts';
import type { Console } from '../terminal/console.ts';
import type { GlobalOptions } from './options.ts';

/** What a verb is given. */
export interface Run {
  readonly console: Console;
  readonly env: NodeJS.ProcessEnv;
  /** Current folder; relative paths start here. */
  readonly folder: string;
  readonly options: GlobalOptions;
  /** The verb's own options, by the name that follows the two dashes. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];
  /** What stood behind `--`; undefined when there was none. */
  readonly tail: readonly string[] | undefined;
  /** Aborted by the first Ctrl-C, TERM or HUP. */
  readonly signal: AbortSignal;
  /** Absent without `--log`. */
  readonly log?: RunLog;
}

/**
 * Does the verb's work and says how it came out: as one of our exit codes, or as the program did that it ran. Rejects
 * with FleetError for an expected failure.
 */
export type VerbBody = (run: Run) => Promise<number>;

/**
 * What a verb does that gives a global option its meaning: it reads the cluster `file`, it chooses `nodes` of it, it
 * reaches out to nodes (`reach`), to many of them at once (`parallel`), it asks for `consent`, it has a `json` form.
 */
export type GlobalUse = 'file' | 'nodes' | 'reach' | 'consent' | 'json' | 'parallel';

/** One option of a verb, as it stands in the help. */
export interface VerbOption {
  readonly flags: string;
  readonly text: string;
}

/** One line of the registry: all that `--help` needs; the module itself is loaded only when the verb is used. */
export interface Verb {
  /** One word, or two for a verb of a family (`sim up`). */
  readonly name: string;
  readonly group: string;
  /** A phrase without capital and full stop. */
  readonly summary: string;
  /** Words that the verb takes, in the notation of the help: `[node...]`. */
  readonly words: string;
  /** What stands behind `--`, for the one verb that takes it. */
  readonly tail?: string;
  readonly uses: readonly GlobalUse[];
  readonly options: readonly VerbOption[];
  /** Examples and rules, shown below the options of `VERB --help`. */
  readonly more?: string;
  /** Not shown in the help: for meshwright's own use. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<VerbBody>;
}
