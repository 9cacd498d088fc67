import type { Exit } from '../../model/probe.ts';
import { readPlist } from '../model/plist.ts';
import { type JobSignal, type Phase, pidOf, type Service } from './launchd-state.ts';

/** Names of `sysexits.h`, which launchctl prints behind the number. */
const exitNames: Readonly<Record<number, string>> = {
  64: 'EX_USAGE',
  65: 'EX_DATAERR',
  66: 'EX_NOINPUT',
  67: 'EX_NOUSER',
  68: 'EX_NOHOST',
  69: 'EX_UNAVAILABLE',
  70: 'EX_SOFTWARE',
  71: 'EX_OSERR',
  72: 'EX_OSFILE',
  73: 'EX_CANTCREAT',
  74: 'EX_IOERR',
  75: 'EX_TEMPFAIL',
  76: 'EX_PROTOCOL',
  77: 'EX_NOPERM',
  78: 'EX_CONFIG',
};

/** What strsignal(3) of macOS calls a signal, and its number. */
const signalNames: Readonly<Record<string, string>> = {
  HUP: 'Hangup: 1',
  INT: 'Interrupt: 2',
  QUIT: 'Quit: 3',
  ILL: 'Illegal instruction: 4',
  TRAP: 'Trace/BPT trap: 5',
  ABRT: 'Abort trap: 6',
  FPE: 'Floating point exception: 8',
  KILL: 'Killed: 9',
  BUS: 'Bus error: 10',
  SEGV: 'Segmentation fault: 11',
  SYS: 'Bad system call: 12',
  PIPE: 'Broken pipe: 13',
  ALRM: 'Alarm clock: 14',
  TERM: 'Terminated: 15',
  USR1: 'User defined signal 1: 30',
  USR2: 'User defined signal 2: 31',
};

function exitLine(exit: Exit | undefined): string {
  if (exit === undefined) return 'last exit code = (never exited)';
  if (exit.kind === 'signalled') return `last terminating signal = ${signalNames[exit.signal] ?? exit.signal}`;
  if (exit.kind === 'unknown') return 'last exit code = (never exited)';
  const name = exitNames[exit.code];
  return `last exit code = ${exit.code}${name === undefined ? '' : `: ${name}`}`;
}

function stateOf(phase: Phase): string {
  switch (phase.kind) {
    case 'running':
      return 'running';
    case 'stopping':
      return 'SIGTERMed';
    case 'scheduled':
      return 'spawn scheduled';
    case 'idle':
      return 'not running';
  }
}

const block = (name: string, inside: readonly string[]): readonly string[] => [
  `\t${name} = {`,
  ...inside.map((line) => `\t\t${line}`),
  '\t}',
  '',
];

const spawnTypes = {
  Standard: 'daemon (3)',
  Interactive: 'interactive (4)',
  Adaptive: 'adaptive (6)',
  Background: 'daemon (3)',
};

function properties({ job }: Service): string {
  return [
    ...(job.keepAlive.kind === 'always' ? ['keepalive'] : []),
    ...(job.runAtLoad ? ['runatload'] : []),
    'inferred program',
  ].join(' | ');
}

/** Present fields only. */
const fields = (...pairs: readonly (readonly [string, string | number | undefined])[]): readonly string[] =>
  pairs.flatMap(([name, value]) => (value === undefined ? [] : [`\t${name} = ${value}`]));

/**
 * What `launchctl print system/LABEL` says of a service, in the order of the two published captures: fields at one
 * tab, arguments and environments in braces, where they stand raw.
 *
 * @see test/cases/sim/captures/launchctl-print.user-agent.not-running.full.txt
 */
export function printText(service: Service): string {
  const { job, path, phase, runs } = service;
  const environment = { ...job.environment, XPC_SERVICE_NAME: job.label };
  const output = fields(['stdout path', job.standardOutPath], ['stderr path', job.standardErrorPath]);
  return [
    `system/${job.label} = {`,
    ...fields(
      ['active count', pidOf(service) === undefined ? 0 : 1],
      ['path', path],
      ['type', 'LaunchDaemon'],
      ['state', stateOf(phase)],
    ),
    '',
    ...fields(['program', job.program]),
    ...block('arguments', job.words),
    ...(job.workingDirectory === undefined ? [] : [...fields(['working directory', job.workingDirectory]), '']),
    ...output,
    ...block('default environment', ['PATH => /usr/bin:/bin:/usr/sbin:/sbin']),
    ...block(
      'environment',
      Object.entries(environment).map(([name, value]) => `${name} => ${value}`),
    ),
    ...fields(
      ['domain', 'system'],
      ['username', job.userName],
      ['minimum runtime', job.throttleSeconds],
      ['exit timeout', job.exitTimeoutSeconds],
      ['runs', runs],
      ['pid', pidOf(service)],
    ),
    `\t${exitLine(service.lastExit)}`,
    '',
    ...(job.intervalSeconds === undefined ? [] : [`\trun interval = ${job.intervalSeconds} seconds`, '']),
    ...fields(['spawn type', spawnTypes[job.processType]], ['jetsam priority', 40]),
    '',
    `\tproperties = ${properties(service)}`,
    '}',
    '',
  ].join('\n');
}

/** Where macOS keeps what `launchctl enable` and `disable` said. */
export const overridesPath = '/private/var/db/com.apple.xpc.launchd/disabled.plist';

/** The user of every node. */
export const agentUser = 501;

/** The same of the agents of that user, for sessions over ssh and at the screen alike. */
export const agentOverridesPath = `/private/var/db/com.apple.xpc.launchd/disabled.${agentUser}.plist`;

/** The overrides as macOS keeps them: label and whether it is disabled. */
export const overridesText = (overrides: ReadonlyMap<string, boolean>): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    ...[...overrides].sort().flatMap(([label, isDisabled]) => [`\t<key>${label}</key>`, `\t<${isDisabled}/>`]),
    '</dict>',
    '</plist>',
    '',
  ].join('\n');

/** Reads them back; none when the text is no list of flags. */
export function readOverrides(text: string): ReadonlyMap<string, boolean> {
  const reading = readPlist(text);
  if (reading.kind === 'refused' || typeof reading.value !== 'object' || Array.isArray(reading.value)) return new Map();
  const entries = Object.entries(reading.value);
  return new Map(entries.flatMap(([label, flag]) => (typeof flag === 'boolean' ? [[label, flag] as const] : [])));
}

/** One command line of launchctl that changes something. */
export type LaunchctlCommand =
  | { readonly kind: 'bootstrap'; readonly path: string }
  | { readonly kind: 'bootout'; readonly label: string }
  | {
      readonly kind: 'kickstart';
      readonly label: string;
      readonly isKilling: boolean;
      /** Whether it prints the process number. */
      readonly isPrinting: boolean;
    }
  | { readonly kind: 'kill'; readonly label: string; readonly signal: JobSignal }
  | {
      readonly kind: 'enable' | 'disable';
      readonly label: string;
      /** Of the agents of a user; of the system when absent. */
      readonly isAgent?: true;
    };

/** What launchctl prints, and how it ends. */
export interface LaunchctlAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Signals that can be named, by the number that macOS has for them. */
const signals: Readonly<Record<string, JobSignal>> = {
  '1': 'SIGHUP',
  '2': 'SIGINT',
  '3': 'SIGQUIT',
  '9': 'SIGKILL',
  '15': 'SIGTERM',
  '17': 'SIGSTOP',
  '19': 'SIGCONT',
  '30': 'SIGUSR1',
  '31': 'SIGUSR2',
};

/** `SIGTERM`, `TERM` or `15`. */
function signalOf(word: string): JobSignal | undefined {
  if (Object.hasOwn(signals, word)) return signals[word];
  return Object.values(signals).find((name) => name === word || name === `SIG${word}`);
}

const labelOf = (target: string | undefined): string | undefined =>
  /^system\/([A-Za-z0-9._-]{1,255})$/.exec(target ?? '')?.[1];

/** An agent of the user: `user/501/LABEL`. */
const agentOf = (target: string | undefined): string | undefined => {
  const head = `user/${agentUser}/`;
  return target?.startsWith(head) ? labelOf(`system/${target.slice(head.length)}`) : undefined;
};

/** `[-k] [-p] system/LABEL`, flags in one word or two. */
function kickstart(words: readonly string[]): LaunchctlCommand | undefined {
  const flags = words.filter((word) => word.startsWith('-'));
  const [target, ...more] = words.slice(flags.length);
  const label = labelOf(target);
  if (label === undefined || more.length > 0 || !flags.every((flag) => /^-[kp]+$/.test(flag))) return undefined;
  const letters = flags.join('');
  return { kind: 'kickstart', label, isKilling: letters.includes('k'), isPrinting: letters.includes('p') };
}

function withLabel(verb: string, label: string): LaunchctlCommand | undefined {
  return verb === 'bootout' || verb === 'enable' || verb === 'disable' ? { kind: verb, label } : undefined;
}

/** The command that these arguments mean; `undefined` for a form that is not simulated. */
export function parseLaunchctl(args: readonly string[]): LaunchctlCommand | undefined {
  const [verb = '', first, second, ...more] = args;
  if (verb === 'kickstart') return kickstart(args.slice(1));
  if (more.length > 0 || first === undefined) return undefined;
  if (verb === 'bootstrap') {
    return first === 'system' && second !== undefined && second !== ''
      ? { kind: 'bootstrap', path: second }
      : undefined;
  }
  if (verb === 'kill') {
    const signal = signalOf(first);
    const label = labelOf(second);
    return signal === undefined || label === undefined ? undefined : { kind: 'kill', label, signal };
  }
  const agent = agentOf(first);
  if (agent !== undefined && second === undefined && (verb === 'enable' || verb === 'disable')) {
    return { kind: verb, label: agent, isAgent: true };
  }
  const label = labelOf(first);
  return label === undefined || second !== undefined ? undefined : withLabel(verb, label);
}

const failed = (exitCode: number, ...lines: readonly string[]): LaunchctlAnswer => ({
  stdout: '',
  stderr: lines.map((line) => `${line}\n`).join(''),
  exitCode,
});

/** Everything went well; `stdout` is nothing unless something was asked for. */
export const succeeded = (stdout = ''): LaunchctlAnswer => ({ stdout, stderr: '', exitCode: 0 });

/** What launchctl answers when launchd refuses; the codes are those of the knowledge about macOS 26. */
export const refusals = {
  bootstrap: failed(5, 'Bootstrap failed: 5: Input/output error'),
  disabled: failed(119, 'Bootstrap failed: 119: Service is disabled'),
  notLoaded: failed(3, 'Boot-out failed: 3: No such process'),
  inProgress: failed(36, 'Boot-out failed: 36: Operation now in progress'),
  /** The Mac is going down, or has not come up yet. */
  down: failed(125, '125: Domain does not support specified action'),
  noProcess: failed(3, 'No process to signal.'),
  noService: (label: string) => failed(113, `Could not find service "${label}" in domain for system`),
} as const;

const notPermitted = '1: Operation not permitted';

/** What a user without root is told. */
export function refusalWithoutRoot(command: LaunchctlCommand): LaunchctlAnswer {
  switch (command.kind) {
    case 'bootstrap':
      return failed(
        5,
        'Bootstrap failed: 5: Input/output error',
        'Try re-running the command as root for richer errors.',
      );
    case 'bootout':
      return failed(1, `Boot-out failed: ${notPermitted}`);
    case 'kickstart':
      return failed(1, `Could not kickstart service "${command.label}": ${notPermitted}`);
    case 'kill':
      return failed(1, `Could not signal service: ${notPermitted}`);
    case 'enable':
    case 'disable':
      return failed(1, `Could not ${command.kind} service: ${notPermitted}`);
  }
}
