import { failure } from '../diagnostics/diagnose.ts';
import type { FleetError } from '../diagnostics/diagnostic.ts';
import type { ReadSecrets } from '../diagnostics/hide-secrets.ts';
import type { EffectTotal } from '../engine/plan/plan.ts';
import { aside, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import type { LogLevel } from './files/event-lines.ts';
import type { RunLog } from './files/run-log.ts';
import type { Console, Ended } from './terminal/console.ts';

/** Options of commands that need an account's password. They take precedence over the file's sources. */
export const passwordOptions: readonly VerbOption[] = [
  { flags: '--password-env <name>', text: 'environment variable that contains the password' },
  { flags: '--password-file <path>', text: 'file with the password, readable only by you' },
];

type Targets = Readonly<Required<Pick<ListedVerb, 'words' | 'uses'>>>;

/** The targets of commands that query many nodes in parallel. */
export const ofNodes: Targets = { words: '[node...]', uses: ['file', 'nodes', 'reach', 'json', 'parallel'] };

/** The targets of commands that change nodes. */
export const changingNodes: Targets = { ...ofNodes, uses: [...ofNodes.uses, 'consent', 'events'] };

/** The targets of commands with placements as arguments, which cannot select nodes. */
export const changingPlacements: Targets = {
  words: '[placement...]',
  uses: ['file', 'reach', 'json', 'parallel', 'consent', 'events'],
};

export const everyNode: VerbOption = { flags: '--all', text: 'every node in the file' };

export const leaseWait: VerbOption = {
  flags: '--lease-wait <time>',
  text: 'how long to wait for a node that is leased to another run',
};

/** The text of a command-specific option; undefined if the option was not given. */
export function textOption({ own }: Run, name: string): string | undefined {
  const value = own[name];
  return typeof value === 'string' ? value : undefined;
}

/** An option as users type it: `--mlx-lm` for `mlxLm`. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The number in a command-specific option, from 1 to 9999. @throws FleetError `cli/usage` */
export function readCountOption(run: Run, name: string): number | undefined {
  const text = textOption(run, name);
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) {
    throw usageError(`"${text}" is not a valid count for ${flagOf(name)}.`, 'Enter a whole number from 1 to 9999.');
  }
  return Number(text);
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const longestMs = 24 * 3_600_000;

/** Converts `500ms`, `30s`, `2m` or `1h` to milliseconds; undefined for other texts, zero and more than a day. */
export function parseDuration(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,7})(ms|s|m|h)$/.exec(text);
  if (!match) return undefined;
  const durationMs = Number(match[1]) * (unitsMs[match[2] ?? ''] ?? Number.NaN);
  return durationMs <= longestMs ? durationMs : undefined;
}

export interface Run {
  readonly console: Console;
  readonly env: NodeJS.ProcessEnv;
  /** The current folder, from which relative paths start. */
  readonly folder: string;
  readonly options: GlobalOptions;
  /** Command-specific options, by commander's camel-case names. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];
  /** The arguments after `--`; undefined without `--`. */
  readonly tail: readonly string[] | undefined;
  /** Aborted by the first Ctrl-C, TERM or HUP. */
  readonly signal: AbortSignal;
  readonly secrets: ReadSecrets;
  /** For a command that a playbook runs: the effects that the user has agreed to. */
  readonly agreed?: readonly EffectTotal[];
  /** Absent without `--log`. */
  readonly log?: RunLog;
}

/** Runs a command; resolves to its result, or to an exit code. Rejects with FleetError for an expected failure. */
export type VerbBody = (run: Run) => Promise<number | Ended>;

/**
 * Why a command accepts a global option: it reads the cluster `file`, lets users select `nodes`, contacts nodes
 * (`reach`), many of them in `parallel`, asks for `consent`, can print `json`, or runs plans and reports their `events`.
 */
export type GlobalUse = 'file' | 'nodes' | 'reach' | 'consent' | 'json' | 'parallel' | 'events';

interface VerbOption {
  readonly flags: string;
  readonly text: string;
  /** True if the value is a comma-separated list, to which a repeated option adds. */
  readonly isList?: true;
}

/** A command's registry entry, with everything that `--help` needs. Its module is loaded only to run the command. */
export interface ListedVerb {
  /** One word, or two for a subcommand (`sim up`). */
  readonly name: string;
  /** A phrase without an initial capital or a period. */
  readonly summary: string;
  /** The arguments in help notation: `[node...]`. */
  readonly words?: string;
  /** The arguments after `--`, for commands that run a program. */
  readonly tail?: string;
  readonly uses?: readonly GlobalUse[];
  readonly options?: readonly VerbOption[];
  /** Description, exit codes and examples for `COMMAND --help`: one line per paragraph, examples indented by two. */
  readonly more?: string;
  /** True if only meshwright itself runs the command, so that the help omits it. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<VerbBody>;
}

/** A listed command with its defaults and its help heading. */
export interface Verb extends ListedVerb {
  readonly group: string;
  readonly uses: readonly GlobalUse[];
  readonly options: readonly VerbOption[];
}

interface GlobalOptions {
  readonly file?: string;
  readonly nodes?: readonly string[];
  /** `-l key=value`; all of these labels must match. */
  readonly label?: readonly string[];
  /** True with `--json` and with `--events`, which ends with the same document. */
  readonly json?: boolean;
  readonly events?: boolean;
  readonly sim?: boolean;
  readonly yes?: boolean;
  /** `--trust KIND=VALUE`, each as typed. */
  readonly trust?: readonly string[];
  /** `--base-lock`: the lock of the commit that the caller trusts. */
  readonly baseLock?: string;
  readonly parallel: number;
  /** `--deadline`: the time limit for one answer of a node, in milliseconds. */
  readonly deadline: number;
  /** False with `--no-color`. */
  readonly color: boolean;
  readonly verbose?: boolean;
  /** `--record`: the file to which every command sent to a node is appended. */
  readonly record?: string;
  /** `--log`: the file to which this command's log is appended; `--log-level`: its lowest level. */
  readonly log?: string;
  readonly logLevel?: LogLevel;
}

/** A problem with the command line itself. The command exits with 64 and has done nothing. */
export function usageError(detail: Prose, hint: Prose): FleetError {
  return failure('cli/usage', { detail, hint });
}

/** An argument as a person would type it in a shell, quoted only if necessary. */
export const shownWord = (word: string): string => (/^[\w.,/=:@+-]+$/.test(word) ? word : quote(word));

/** The arguments and options that select this command line's file and nodes, to repeat them in another command. */
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

/** Shown below simulated Macs' manual steps, because their instructions are for real Macs. */
export const mendingText = prose`Simulated rack: ${aside(meshwright('sim hands'))} does the manual steps.`;
