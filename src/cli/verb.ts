import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/diagnostic.ts';
import { aside, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import type { LogLevel } from './files/event-lines.ts';
import type { RunLog } from './files/run-log.ts';
import type { Console } from './terminal/console.ts';

/** Options of verbs that need the password of an account: before what the file says. */
export const passwordOptions: readonly VerbOption[] = [
  { flags: '--password-env <name>', text: 'the environment variable that holds the password' },
  { flags: '--password-file <path>', text: 'the file that holds it, which only you may read' },
];

/** What a verb uses that asks many nodes at once. */
export const atOnce: readonly GlobalUse[] = ['file', 'nodes', 'reach', 'json', 'parallel'];

/** What a verb uses that changes nodes. */
export const withConsent: readonly GlobalUse[] = [...atOnce, 'consent'];

/** The same for a verb whose words are placements: nodes are not chosen. */
export const overPlacements: readonly GlobalUse[] = ['file', 'reach', 'json', 'parallel', 'consent'];

/** Takes every node of the file where else words name them. */
export const everyNode: VerbOption = { flags: '--all', text: 'every node of the file' };

/** Lets a run wait for the leases of another. */
export const leaseWait: VerbOption = {
  flags: '--lease-wait <time>',
  text: 'how long to wait for another run that holds a node',
};

/** The verb's own option with a text; undefined when it was not given. */
export function textOption({ own }: Run, name: string): string | undefined {
  const value = own[name];
  return typeof value === 'string' ? value : undefined;
}

/** The verb's own option with a whole number from 1 to 9999. @throws FleetError `cli/usage` */
export function readCountOption(run: Run, name: string): number | undefined {
  const text = textOption(run, name);
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) {
    throw usageError(`"${text}" is no count for --${name}.`, 'Say a whole number from 1 to 9999.');
  }
  return Number(text);
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const longestMs = 24 * 3_600_000;

/** `500ms`, `30s`, `2m`, `1h` as milliseconds; undefined for anything else, for nothing, and for more than a day. */
export function parseDuration(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,7})(ms|s|m|h)$/.exec(text);
  if (!match) return undefined;
  const durationMs = Number(match[1]) * (unitsMs[match[2] ?? ''] ?? Number.NaN);
  return durationMs <= longestMs ? durationMs : undefined;
}

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
interface VerbOption {
  readonly flags: string;
  readonly text: string;
}

/** One line of the registry: all that `--help` needs; the module itself is loaded only when the verb is used. */
export interface ListedVerb {
  /** One word, or two for a verb of a family (`sim up`). */
  readonly name: string;
  /** A phrase without capital and full stop. */
  readonly summary: string;
  /** Words that the verb takes, in the notation of the help: `[node...]`. */
  readonly words?: string;
  /** What stands behind `--`, for the one verb that takes it. */
  readonly tail?: string;
  readonly uses?: readonly GlobalUse[];
  readonly options?: readonly VerbOption[];
  /** Examples and rules, shown below the options of `VERB --help`. */
  readonly more?: string;
  /** Not shown in the help: for meshwright's own use. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<VerbBody>;
}

/** The same under the heading of the help where it stands, whole. */
export interface Verb extends ListedVerb {
  readonly group: string;
  readonly uses: readonly GlobalUse[];
  readonly options: readonly VerbOption[];
}

/** What may stand on every command line. */
interface GlobalOptions {
  /** `-f`: the cluster file. */
  readonly file?: string;
  /** `--nodes a,b`. */
  readonly nodes?: readonly string[];
  /** `-l key=value`, all of which must hold. */
  readonly label?: readonly string[];
  readonly json?: boolean;
  readonly sim?: boolean;
  readonly yes?: boolean;
  /** How many nodes at once. */
  readonly parallel: number;
  /** `--deadline`, in milliseconds, for the whole run on one node. */
  readonly deadline: number;
  /** False with `--no-color`. */
  readonly color: boolean;
  readonly verbose?: boolean;
  /** `--record`: file to which every command that is sent to a node is appended. */
  readonly record?: string;
  /** `--log`: file to which the log of this verb is appended, and `--log-level`, the least level that it has. */
  readonly log?: string;
  readonly logLevel?: LogLevel;
}

/** A problem with the command line itself: the run ends with 64 and nothing was done. */
export function usageError(detail: Prose, hint: Prose): FleetError {
  return new FleetError([diagnose('cli/usage', { detail, hint })]);
}

/** A word of a command as a person types it into a shell: quoted only where it must be. */
export const shownWord = (word: string): string => (/^[\w.,/=:@+-]+$/.test(word) ? word : quote(word));

/** What chooses the file and nodes on this command line, to be typed again behind another verb. */
export function sameWords(
  { options }: { readonly options: Partial<GlobalOptions> },
  words: readonly string[],
): readonly string[] {
  const { file, nodes, label } = options;
  return [
    ...words.map(shownWord),
    ...(file === undefined ? [] : ['-f', shownWord(file)]),
    ...(nodes === undefined ? [] : ['--nodes', shownWord(nodes.join(','))]),
    ...(label ?? []).flatMap((one) => ['-l', shownWord(one)]),
  ];
}

/** The cures of a work list are for real Macs; nobody needs a power button at simulated ones. */
export const mendingText = prose`\nThis rack is simulated: ${aside(meshwright('sim hands'))} does the work of the hands.\n`;
