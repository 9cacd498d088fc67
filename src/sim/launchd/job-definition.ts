import { given } from '../../model/given.ts';
import { isDict, type PlistValue, readPlist } from '../model/plist.ts';

/** When launchd restarts a job after it has exited. */
export type KeepAlive =
  | { readonly kind: 'never' }
  | { readonly kind: 'always' }
  /** `isSuccess`: after exit code 0 (true) or after any other exit (false). */
  | { readonly kind: 'after-exit'; readonly isSuccess: boolean }
  /** After a fatal signal that indicates a crash (true) or after any other exit (false). */
  | { readonly kind: 'after-crash'; readonly isCrash: boolean };

const processTypes = ['Standard', 'Interactive', 'Adaptive', 'Background'] as const;

/** One launchd job, with the paths from its property list. */
export interface JobDefinition {
  readonly label: string;
  readonly program: string;
  /** The complete argument list, starting with the program's name. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly standardOutPath?: string;
  readonly standardErrorPath?: string;
  readonly userName?: string;
  readonly runAtLoad: boolean;
  readonly keepAlive: KeepAlive;
  readonly throttleSeconds: number;
  /** Interval between repeated starts; absent: none. */
  readonly intervalSeconds?: number;
  readonly exitTimeoutSeconds: number;
  /** Whether other processes in the job's group may outlive it. */
  readonly abandonsGroup: boolean;
  readonly processType: (typeof processTypes)[number];
  /** The property list's own `Disabled`, which `launchctl enable` overrides. */
  readonly isDisabled: boolean;
}

/** A job, the reason why launchd would refuse it, or the part that this launchd cannot simulate. */
export type JobReading =
  | { readonly kind: 'job'; readonly job: JobDefinition }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-simulated'; readonly key: string };

/** Seconds between two starts (`minimum runtime` in macOS 26's output), and from TERM to KILL (`exit timeout`). */
const defaults = { throttleSeconds: 10, exitTimeoutSeconds: 5 } as const;

type Check<Value extends PlistValue = PlistValue> = (value: PlistValue) => value is Value;
type Dictionary<Value = PlistValue> = { readonly [key: string]: Value };

const isArgument = (value: PlistValue): value is string => typeof value === 'string' && !value.includes('\0');
const isText = (value: PlistValue): value is string => isArgument(value) && value !== '';
const isFlag = (value: PlistValue): value is boolean => typeof value === 'boolean';
const isSeconds = (value: PlistValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isInterval = (value: PlistValue): value is number => isSeconds(value) && value !== 0;
const isTextList = (value: PlistValue): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every(isArgument);
const isTextDictionary = (value: PlistValue): value is Dictionary<string> =>
  isDict(value) && Object.values(value).every(isArgument);
const isProcessType = (value: PlistValue): value is JobDefinition['processType'] =>
  processTypes.some((one) => one === value);
/** The only simulated key of SoftResourceLimits (launchd.plist(5)); all of that dictionary's values are integers. */
const openFilesKey = 'NumberOfFiles';
const isLimits = (value: PlistValue): value is Dictionary<number> =>
  isDict(value) && Object.values(value).every(isSeconds);
const isKeepAlive = (value: PlistValue): value is boolean | Dictionary<boolean> =>
  isFlag(value) || (isDict(value) && Object.values(value).every(isFlag));

/** All simulated keys, with the required form of their values (launchd.plist(5)). */
const keys = {
  Label: (value: PlistValue): value is string => typeof value === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(value),
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

type Checked = {
  readonly [Key in keyof typeof keys]?: (typeof keys)[Key] extends Check<infer Value> ? Value : never;
};

function keepAliveOf(value: Checked['KeepAlive'] = false): KeepAlive | undefined {
  if (typeof value === 'boolean') return { kind: value ? 'always' : 'never' };
  const [[name, isWanted] = ['', false], ...more] = Object.entries(value);
  if (more.length > 0) return undefined;
  if (name === 'SuccessfulExit') return { kind: 'after-exit', isSuccess: isWanted };
  return name === 'Crashed' ? { kind: 'after-crash', isCrash: isWanted } : undefined;
}

function jobOf(list: Checked, label: string, keepAlive: KeepAlive): JobReading {
  const words = list.ProgramArguments ?? [];
  const program = list.Program ?? words[0];
  if (program === undefined) return { kind: 'refused', reason: 'neither Program nor ProgramArguments' };
  return {
    kind: 'job',
    job: {
      label,
      program,
      words: words.length === 0 ? [program] : words,
      environment: list.EnvironmentVariables ?? {},
      ...given({
        workingDirectory: list.WorkingDirectory,
        standardOutPath: list.StandardOutPath,
        standardErrorPath: list.StandardErrorPath,
        userName: list.UserName,
        intervalSeconds: list.StartInterval,
      }),
      runAtLoad: list.RunAtLoad === true,
      keepAlive,
      throttleSeconds: list.ThrottleInterval ?? defaults.throttleSeconds,
      exitTimeoutSeconds: list.ExitTimeOut ?? defaults.exitTimeoutSeconds,
      abandonsGroup: list.AbandonProcessGroup === true,
      processType: list.ProcessType ?? 'Standard',
      isDisabled: list.Disabled === true,
    },
  };
}

/**
 * Parses a launchd property list. Valid keys that are not simulated are reported separately, so that they are recorded
 * instead of ignored.
 *
 * @see launchd.plist(5) of macOS
 */
export function readJob(text: string): JobReading {
  const reading = readPlist(text);
  if (reading.kind === 'refused') return reading;
  if (!isDict(reading.value)) return { kind: 'refused', reason: 'it is not a dictionary' };
  const checks: Dictionary<Check> = keys;
  for (const [key, value] of Object.entries(reading.value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (check === undefined) return { kind: 'not-simulated', key };
    if (!check(value)) return { kind: 'refused', reason: `the value of ${key}` };
  }
  const list = reading.value as Checked;
  if (Object.keys(list.SoftResourceLimits ?? {}).some((name) => name !== openFilesKey)) {
    return { kind: 'not-simulated', key: `SoftResourceLimits other than ${openFilesKey}` };
  }
  const keepAlive = keepAliveOf(list.KeepAlive);
  if (keepAlive === undefined) return { kind: 'not-simulated', key: 'KeepAlive with these conditions' };
  return list.Label === undefined ? { kind: 'refused', reason: 'no Label' } : jobOf(list, list.Label, keepAlive);
}
