import { given } from '../../model/given.ts';
import { type PlistValue, readPlist } from '../model/plist.ts';

/** When launchd starts a job again after it has ended. */
export type KeepAlive =
  | { readonly kind: 'never' }
  | { readonly kind: 'always' }
  /** `isSuccess`: after exit code 0 (true) or after anything else (false). */
  | { readonly kind: 'after-exit'; readonly isSuccess: boolean }
  /** After a signal that it did not expect. */
  | { readonly kind: 'after-crash'; readonly isCrash: boolean };

const processTypes = ['Standard', 'Interactive', 'Adaptive', 'Background'] as const;

/** One launchd job as its property list defines it. Paths are as they stand there. */
export interface JobDefinition {
  readonly label: string;
  readonly program: string;
  /** The whole argument list, with the program's name first. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly standardOutPath?: string;
  readonly standardErrorPath?: string;
  readonly userName?: string;
  readonly runAtLoad: boolean;
  readonly keepAlive: KeepAlive;
  readonly throttleSeconds: number;
  /** Started again and again after so many seconds; absent where nobody asked for that. */
  readonly intervalSeconds?: number;
  readonly exitTimeoutSeconds: number;
  /** Whether the rest of its process group may outlive it. */
  readonly abandonsGroup: boolean;
  readonly processType: (typeof processTypes)[number];
  /** The soft limit of open files; absent where nobody asked for another one. */
  readonly openFiles?: number;
  /** The list's own `Disabled`, which `launchctl enable` overrides. */
  readonly isDisabled: boolean;
}

/** A job, why launchd would refuse it, or what of it this launchd cannot simulate. */
export type JobReading =
  | { readonly kind: 'job'; readonly job: JobDefinition }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-simulated'; readonly key: string };

/** Seconds between two starts (`minimum runtime` in what macOS 26 prints) and before a KILL (`exit timeout` there). */
const defaults = { throttleSeconds: 10, exitTimeoutSeconds: 5 } as const;

type Dictionary = { readonly [key: string]: PlistValue };
type Check = (value: PlistValue) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '' && !value.includes('\0');
const isFlag: Check = (value) => typeof value === 'boolean';
const isSeconds: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isInterval: Check = (value) => isSeconds(value) && value !== 0;
const isDictionary = (value: PlistValue): value is Dictionary => typeof value === 'object' && !Array.isArray(value);
const isTextList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isArgument);
const isArgument: Check = (value) => typeof value === 'string' && !value.includes('\0');
const isTextDictionary: Check = (value) => isDictionary(value) && Object.values(value).every(isArgument);
const isProcessType: Check = (value) => processTypes.some((one) => one === value);
/** Of its keys (launchd.plist(5), SoftResourceLimits) only this one is simulated; all of them have integers. */
const openFilesKey = 'NumberOfFiles';
const isLimits: Check = (value) => isDictionary(value) && Object.values(value).every(isSeconds);
const isKeepAlive: Check = (value) => isFlag(value) || (isDictionary(value) && Object.values(value).every(isFlag));

/** Every key that is simulated, with the form that its value must have (launchd.plist(5)). */
const keys: Readonly<Record<string, Check>> = {
  Label: (value) => typeof value === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(value),
  Disabled: isFlag,
  UserName: isText,
  Program: isText,
  ProgramArguments: isTextList,
  RunAtLoad: isFlag,
  KeepAlive: isKeepAlive,
  WorkingDirectory: isText,
  EnvironmentVariables: isTextDictionary,
  ExitTimeOut: isSeconds,
  ThrottleInterval: isSeconds,
  StartInterval: isInterval,
  StandardOutPath: isText,
  StandardErrorPath: isText,
  ProcessType: isProcessType,
  SoftResourceLimits: isLimits,
  AbandonProcessGroup: isFlag,
};

function keepAliveOf(value: PlistValue | undefined): KeepAlive | undefined {
  if (value === undefined || value === false) return { kind: 'never' };
  if (value === true) return { kind: 'always' };
  if (!isDictionary(value)) return undefined;
  const [entry, ...more] = Object.entries(value);
  if (entry === undefined || more.length > 0) return undefined;
  const [name, isWanted] = entry;
  if (typeof isWanted !== 'boolean') return undefined;
  if (name === 'SuccessfulExit') return { kind: 'after-exit', isSuccess: isWanted };
  return name === 'Crashed' ? { kind: 'after-crash', isCrash: isWanted } : undefined;
}

const textOf = (value: PlistValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const numberOf = (value: PlistValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

const texts = (value: PlistValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

function environmentOf(value: PlistValue | undefined): Readonly<Record<string, string>> {
  const entries = value !== undefined && isDictionary(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])));
}

/** Whether there is a limit that nothing here has. */
const hasOtherLimits = (limits: PlistValue | undefined): boolean =>
  limits !== undefined && isDictionary(limits) && Object.keys(limits).some((name) => name !== openFilesKey);

function jobOf(list: Dictionary, label: string, keepAlive: KeepAlive): JobReading {
  const words = texts(list['ProgramArguments']);
  const program = textOf(list['Program']) ?? words[0];
  if (program === undefined) return { kind: 'refused', reason: 'neither Program nor ProgramArguments' };
  const limits = list['SoftResourceLimits'];
  return {
    kind: 'job',
    job: {
      label,
      program,
      words: words.length === 0 ? [program] : words,
      environment: environmentOf(list['EnvironmentVariables']),
      ...given({
        workingDirectory: textOf(list['WorkingDirectory']),
        standardOutPath: textOf(list['StandardOutPath']),
        standardErrorPath: textOf(list['StandardErrorPath']),
        userName: textOf(list['UserName']),
        intervalSeconds: numberOf(list['StartInterval']),
        openFiles: limits !== undefined && isDictionary(limits) ? numberOf(limits[openFilesKey]) : undefined,
      }),
      runAtLoad: list['RunAtLoad'] === true,
      keepAlive,
      throttleSeconds: numberOf(list['ThrottleInterval']) ?? defaults.throttleSeconds,
      exitTimeoutSeconds: numberOf(list['ExitTimeOut']) ?? defaults.exitTimeoutSeconds,
      abandonsGroup: list['AbandonProcessGroup'] === true,
      processType: processTypes.find((one) => one === list['ProcessType']) ?? 'Standard',
      isDisabled: list['Disabled'] === true,
    },
  };
}

/**
 * Reads the text of a launchd property list. A key that launchd knows and this one does not simulate is told apart,
 * so that it can be written down instead of being ignored.
 *
 * @see launchd.plist(5) of macOS
 */
export function readJob(text: string): JobReading {
  const reading = readPlist(text);
  if (reading.kind === 'refused') return reading;
  const list = reading.value;
  if (!isDictionary(list)) return { kind: 'refused', reason: 'it is no dictionary' };
  for (const [key, value] of Object.entries(list)) {
    const check = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (check === undefined) return { kind: 'not-simulated', key };
    if (!check(value)) return { kind: 'refused', reason: `the value of ${key}` };
  }
  if (hasOtherLimits(list['SoftResourceLimits'])) {
    return { kind: 'not-simulated', key: `SoftResourceLimits but ${openFilesKey}` };
  }
  const keepAlive = keepAliveOf(list['KeepAlive']);
  if (keepAlive === undefined) return { kind: 'not-simulated', key: 'KeepAlive with these conditions' };
  const label = textOf(list['Label']);
  return label === undefined ? { kind: 'refused', reason: 'no Label' } : jobOf(list, label, keepAlive);
}
