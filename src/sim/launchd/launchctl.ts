import type { Exit } from '../../model/probe.ts';
import { readPlist } from '../model/plist.ts';
import type { JobDefinition, JobReading } from './job-definition.ts';
import {
  isDisabled,
  type JobSignal,
  type LaunchdEvent,
  type LaunchdState,
  type Phase,
  pidOf,
  type Service,
  signals,
} from './launchd-state.ts';

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

const states = {
  running: 'running',
  stopping: 'SIGTERMed',
  scheduled: 'spawn scheduled',
  idle: 'not running',
} as const satisfies Record<Phase['kind'], string>;

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
      ['state', states[phase.kind]],
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
type LaunchctlCommand =
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

/** `SIGTERM`, `TERM` or `15`. */
function signalOf(word: string): JobSignal | undefined {
  return Object.entries(signals).find(([number, name]) => [number, name, name.slice(3)].includes(word))?.[1];
}

const labelOf = (target: string | undefined): string | undefined =>
  /^system\/([A-Za-z0-9._-]{1,255})$/.exec(target ?? '')?.[1];

/** An agent of the user: `user/501/LABEL`. */
const agentOf = (target: string | undefined): string | undefined => {
  const head = `user/${agentUser}/`;
  return target?.startsWith(head) ? labelOf(`system/${target.slice(head.length)}`) : undefined;
};

/** `[-k] [-p] system/LABEL`, flags in one word or two. */
function parseKickstart(words: readonly string[]): LaunchctlCommand | undefined {
  const flags = words.filter((word) => word.startsWith('-'));
  const [target, ...more] = words.slice(flags.length);
  const label = labelOf(target);
  if (label === undefined || more.length > 0 || !flags.every((flag) => /^-[kp]+$/.test(flag))) return undefined;
  const letters = flags.join('');
  return { kind: 'kickstart', label, isKilling: letters.includes('k'), isPrinting: letters.includes('p') };
}

/** The command that these arguments mean; `undefined` for a form that is not simulated. */
function parseLaunchctl(args: readonly string[]): LaunchctlCommand | undefined {
  const [verb = '', first, second, ...more] = args;
  if (verb === 'kickstart') return parseKickstart(args.slice(1));
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
  if (label === undefined || second !== undefined) return undefined;
  return verb === 'bootout' || verb === 'enable' || verb === 'disable' ? { kind: verb, label } : undefined;
}

const failed = (exitCode: number, ...lines: readonly string[]): LaunchctlAnswer => ({
  stdout: '',
  stderr: lines.map((line) => `${line}\n`).join(''),
  exitCode,
});

/** Everything went well; `stdout` is nothing unless something was asked for. */
const succeeded = (stdout = ''): LaunchctlAnswer => ({ stdout, stderr: '', exitCode: 0 });

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

/** What a user without root is told. */
function refusalWithoutRoot(command: LaunchctlCommand): LaunchctlAnswer {
  if (command.kind === 'bootstrap') {
    return failed(
      5,
      'Bootstrap failed: 5: Input/output error',
      'Try re-running the command as root for richer errors.',
    );
  }
  const what = {
    bootout: 'Boot-out failed',
    kickstart: `Could not kickstart service "${command.label}"`,
    kill: 'Could not signal service',
    enable: 'Could not enable service',
    disable: 'Could not disable service',
  };
  return failed(1, `${what[command.kind]}: 1: Operation not permitted`);
}

/** A request of the tool. */
export interface LaunchctlRequest {
  /** Behind the name of the tool. */
  readonly args: readonly string[];
  readonly isRoot: boolean;
}

/** What the answers to launchctl are made with. */
export interface LaunchdCore {
  readonly state: () => LaunchdState;
  /** Lets it happen, real processes included. */
  readonly tell: (event: LaunchdEvent) => void;
  /** Resolves as soon as it holds. */
  readonly until: (isTrue: (state: LaunchdState) => boolean) => Promise<void>;
  /** Resolves when the files show the state. */
  readonly settled: () => Promise<void>;
  /** Tells whoever has to know of a job before it is loaded. */
  readonly announce: (job: JobDefinition) => Promise<void>;
  readonly files: {
    /** Reads a property list; launchd takes only what group and others cannot write. */
    readonly readDefinition: (path: string) => Promise<JobReading>;
    readonly writeOverrides: (overrides: ReadonlyMap<string, boolean>) => Promise<void>;
    /** Keeps what was said of an agent of the user beside what was said before. */
    readonly overrideAgent: (label: string, isDisabled: boolean) => Promise<void>;
  };
  readonly objectTo: (line: string) => void;
}

async function bootstrap(core: LaunchdCore, path: string): Promise<LaunchctlAnswer> {
  const reading = await core.files.readDefinition(path);
  if (reading.kind === 'not-simulated') core.objectTo(`/bin/launchctl 3:bootstrap system ${path} (${reading.key})`);
  if (reading.kind !== 'job') return refusals.bootstrap;
  const { job } = reading;
  if (isDisabled(core.state(), job)) return refusals.disabled;
  await core.announce(job);
  if (core.state().services.has(job.label)) return refusals.bootstrap;
  core.tell({ kind: 'load', job, path });
  return succeeded();
}

/** Waits until the service is gone; another bootout meanwhile is told that this one is under way. */
async function bootout(core: LaunchdCore, label: string): Promise<LaunchctlAnswer> {
  const service = core.state().services.get(label);
  if (service === undefined) return refusals.notLoaded;
  if (service.phase.kind === 'stopping' && service.phase.next === 'unload') return refusals.inProgress;
  core.tell({ kind: 'unload', label });
  await core.until(({ services }) => !services.has(label));
  return succeeded();
}

async function kickstart(
  core: LaunchdCore,
  { label, isKilling, isPrinting }: Extract<LaunchctlCommand, { kind: 'kickstart' }>,
): Promise<LaunchctlAnswer> {
  const service = core.state().services.get(label);
  if (service === undefined) return refusals.noService(label);
  if (service.phase.kind === 'stopping' && service.phase.next === 'unload') return refusals.inProgress;
  core.tell({ kind: 'kick', label, isKilling });
  await core.until(({ services }) => services.get(label)?.phase.kind !== 'stopping');
  const now = core.state().services.get(label);
  const pid = now === undefined ? undefined : pidOf(now);
  return succeeded(isPrinting && pid !== undefined ? `${pid}\n` : '');
}

function kill(core: LaunchdCore, { label, signal }: Extract<LaunchctlCommand, { kind: 'kill' }>): LaunchctlAnswer {
  const service = core.state().services.get(label);
  if (service === undefined) return refusals.noService(label);
  if (pidOf(service) === undefined) return refusals.noProcess;
  core.tell({ kind: 'signal', label, signal });
  return succeeded();
}

async function override(
  { files, tell, state }: LaunchdCore,
  label: string,
  isDisabledNow: boolean,
  isAgent: boolean,
): Promise<void> {
  // No agent is simulated: what is said of one is kept in its file, and nothing else follows from it.
  if (isAgent) return files.overrideAgent(label, isDisabledNow);
  tell({ kind: 'override', label, isDisabled: isDisabledNow });
  return files.writeOverrides(state().overrides);
}

async function answer(core: LaunchdCore, command: LaunchctlCommand): Promise<LaunchctlAnswer> {
  switch (command.kind) {
    case 'bootstrap':
      return bootstrap(core, command.path);
    case 'bootout':
      return bootout(core, command.label);
    case 'kickstart':
      return kickstart(core, command);
    case 'kill':
      return kill(core, command);
    case 'enable':
    case 'disable':
      await override(core, command.label, command.kind === 'disable', command.isAgent === true);
      return succeeded();
  }
}

/** The usage of launchctl, for command lines that it does not take. */
const launchctlUsage: LaunchctlAnswer = {
  stdout: '',
  stderr: 'Usage: launchctl <subcommand> ... | help [subcommand]\n',
  exitCode: 64,
};

/** Does what a command line of launchctl asks for and answers when it is done, files included. */
export async function answerLaunchctl(core: LaunchdCore, request: LaunchctlRequest): Promise<LaunchctlAnswer> {
  const command = parseLaunchctl(request.args);
  // What a user may say of the agents of his own domain is not simulated.
  const isAgent = (command?.kind === 'enable' || command?.kind === 'disable') && command.isAgent === true;
  if (command === undefined || (isAgent && !request.isRoot)) {
    core.objectTo(`/bin/launchctl ${request.args.length}:${request.args.join(' ').replaceAll('\n', '?')}`);
    return launchctlUsage;
  }
  if (!request.isRoot) return refusalWithoutRoot(command);
  const answered = await answer(core, command);
  await core.settled();
  return answered;
}
