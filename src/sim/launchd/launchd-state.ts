import { type Exit, isSuccess } from '../../model/probe.ts';
import type { JobDefinition } from './job-definition.ts';

/** Signals, by their numbers on macOS. */
export const signals = {
  '1': 'SIGHUP',
  '2': 'SIGINT',
  '3': 'SIGQUIT',
  '9': 'SIGKILL',
  '15': 'SIGTERM',
  '17': 'SIGSTOP',
  '19': 'SIGCONT',
  '30': 'SIGUSR1',
  '31': 'SIGUSR2',
} as const;

export type JobSignal = (typeof signals)[keyof typeof signals];

type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly pid: number }
  /** The process received TERM; `next` is the action after its exit. */
  | { readonly kind: 'stopping'; readonly pid: number; readonly next: 'start' | 'unload' }
  /** The process exited and will be restarted after the throttle interval. */
  | { readonly kind: 'scheduled' };

interface Service {
  readonly job: JobDefinition;
  /** Path of its property list on the Mac. */
  readonly path: string;
  readonly phase: Phase;
  /** Number of its starts in this boot session. */
  readonly runs: number;
  /** Absent until its first exit. */
  readonly lastExit?: Exit;
}

export const pidOf = (service: Service | undefined): number | undefined =>
  service !== undefined && 'pid' in service.phase ? service.phase.pid : undefined;

export interface LaunchdState {
  readonly services: ReadonlyMap<string, Service>;
  /** The last `disable` (true) or `enable` (false) of each label; survives a reboot. */
  readonly overrides: ReadonlyMap<string, boolean>;
}

/** An event for launchd. Except for `load`, an event for a label that is not loaded has no effect. */
export type LaunchdEvent =
  | { readonly kind: 'load'; readonly job: JobDefinition; readonly path: string }
  | { readonly kind: 'unload'; readonly label: string }
  | { readonly kind: 'kick'; readonly label: string; readonly isKilling: boolean }
  | { readonly kind: 'signal'; readonly label: string; readonly signal: JobSignal }
  | { readonly kind: 'override'; readonly label: string; readonly isDisabled: boolean }
  | { readonly kind: 'started'; readonly label: string; readonly pid: number }
  /** The program is missing or not executable: EX_CONFIG. */
  | { readonly kind: 'not-started'; readonly label: string }
  | { readonly kind: 'ended'; readonly label: string; readonly exit: Exit }
  /** The throttle interval is over. */
  | { readonly kind: 'due'; readonly label: string }
  /** The start interval of this job is over. A job that was loaded again counts as a different one. */
  | { readonly kind: 'interval'; readonly label: string; readonly job: JobDefinition };

/** An action on real processes. Actions are performed in order. */
export type LaunchdAct =
  | { readonly kind: 'start'; readonly label: string; readonly job: JobDefinition }
  | { readonly kind: 'signal'; readonly label: string; readonly signal: JobSignal }
  /** Sends KILL if the same process is still running after this many seconds of the Mac's time. */
  | { readonly kind: 'kill-later'; readonly label: string; readonly pid: number; readonly seconds: number }
  /** Sends `due`, this many seconds of the Mac's time after the last start. */
  | { readonly kind: 'wake'; readonly label: string; readonly seconds: number }
  /** Sends `interval`, this many seconds of the Mac's time from now. */
  | { readonly kind: 'recur'; readonly label: string; readonly job: JobDefinition; readonly seconds: number };

export interface Transition {
  readonly state: LaunchdState;
  readonly acts: readonly LaunchdAct[];
}

/** launchd's state at the beginning of a boot. */
export const freshLaunchd = (overrides: ReadonlyMap<string, boolean>): LaunchdState => ({
  services: new Map(),
  overrides,
});

/** Whether launchd refuses to load the job, because of the override or, without one, because of the property list. */
export const isDisabled = ({ overrides }: LaunchdState, job: JobDefinition): boolean =>
  overrides.get(job.label) ?? job.isDisabled;

const withService = (state: LaunchdState, label: string, service: Service | undefined): LaunchdState => {
  const services = new Map(state.services);
  if (service === undefined) services.delete(label);
  else services.set(label, service);
  return { ...state, services };
};

const unchanged = (state: LaunchdState): Transition => ({ state, acts: [] });

const startAct = (job: JobDefinition): LaunchdAct => ({ kind: 'start', label: job.label, job });

/** @see launchd.plist(5), StartInterval: the count begins when the job is loaded */
const recurActs = (job: JobDefinition): readonly LaunchdAct[] =>
  job.intervalSeconds === undefined ? [] : [{ kind: 'recur', label: job.label, job, seconds: job.intervalSeconds }];

function load(state: LaunchdState, job: JobDefinition, path: string): Transition {
  const service: Service = { job, path, phase: { kind: 'idle' }, runs: 0 };
  const isStarting = job.runAtLoad || job.keepAlive.kind === 'always';
  return {
    state: withService(state, job.label, service),
    acts: [...(isStarting ? [startAct(job)] : []), ...recurActs(job)],
  };
}

/** Sends TERM now, and KILL after the exit timeout. */
function stop(state: LaunchdState, service: Service, pid: number, next: 'start' | 'unload'): Transition {
  const { label, exitTimeoutSeconds } = service.job;
  return {
    state: withService(state, label, { ...service, phase: { kind: 'stopping', pid, next } }),
    acts: [
      { kind: 'signal', label, signal: 'SIGTERM' },
      { kind: 'kill-later', label, pid, seconds: exitTimeoutSeconds },
    ],
  };
}

function unload(state: LaunchdState, service: Service): Transition {
  const { phase, job } = service;
  if (phase.kind === 'running') return stop(state, service, phase.pid, 'unload');
  if (phase.kind !== 'stopping') return unchanged(withService(state, job.label, undefined));
  return unchanged(withService(state, job.label, { ...service, phase: { ...phase, next: 'unload' } }));
}

function kick(state: LaunchdState, service: Service, isKilling: boolean): Transition {
  const { phase, job } = service;
  if (phase.kind === 'running' && isKilling) return stop(state, service, phase.pid, 'start');
  if ('pid' in phase) return unchanged(state);
  return { state: withService(state, job.label, { ...service, phase: { kind: 'idle' } }), acts: [startAct(job)] };
}

/** EX_CONFIG, which launchd reports for a job that it cannot start. */
const configurationExit = 78;

/** Signals that indicate a program error. All others were sent on purpose. */
const crashes = ['ABRT', 'BUS', 'FPE', 'ILL', 'SEGV', 'TRAP', 'SYS'];

function isWantedAgain({ keepAlive }: JobDefinition, exit: Exit): boolean {
  switch (keepAlive.kind) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'after-exit':
      return isSuccess(exit) === keepAlive.isSuccess;
    case 'after-crash':
      return (exit.kind === 'signalled' && crashes.includes(exit.signal)) === keepAlive.isCrash;
  }
}

function ended(state: LaunchdState, service: Service, exit: Exit): Transition {
  const { phase, job } = service;
  const idle: Service = { ...service, phase: { kind: 'idle' }, lastExit: exit };
  if (phase.kind === 'stopping') {
    return phase.next === 'unload'
      ? unchanged(withService(state, job.label, undefined))
      : { state: withService(state, job.label, idle), acts: [startAct(job)] };
  }
  if (!isWantedAgain(job, exit)) return unchanged(withService(state, job.label, idle));
  return {
    state: withService(state, job.label, { ...idle, phase: { kind: 'scheduled' } }),
    acts: [{ kind: 'wake', label: job.label, seconds: job.throttleSeconds }],
  };
}

/** Starts the job unless it is running or throttled. A job that was loaded again has a new interval. */
function recur(state: LaunchdState, service: Service, job: JobDefinition): Transition {
  if (service.job !== job) return unchanged(state);
  const acts = service.phase.kind === 'idle' ? [startAct(job)] : [];
  return { state, acts: [...acts, ...recurActs(job)] };
}

function serviceEvent(
  state: LaunchdState,
  service: Service,
  event: Exclude<LaunchdEvent, { kind: 'load' | 'override' }>,
): Transition {
  switch (event.kind) {
    case 'unload':
      return unload(state, service);
    case 'kick':
      return kick(state, service, event.isKilling);
    case 'signal':
      return { state, acts: pidOf(service) === undefined ? [] : [event] };
    case 'started': {
      const phase: Phase = { kind: 'running', pid: event.pid };
      return unchanged(withService(state, event.label, { ...service, phase, runs: service.runs + 1 }));
    }
    case 'not-started':
      return ended(state, { ...service, runs: service.runs + 1 }, { kind: 'exited', code: configurationExit });
    case 'ended':
      return ended(state, service, event.exit);
    case 'due':
      return service.phase.kind === 'scheduled' ? kick(state, service, false) : unchanged(state);
    case 'interval':
      return recur(state, service, event.job);
  }
}

/** launchd's entire behavior toward its services, without processes, clock or files. */
export function launchdTransition(state: LaunchdState, event: LaunchdEvent): Transition {
  if (event.kind === 'load') return load(state, event.job, event.path);
  if (event.kind === 'override') {
    return unchanged({ ...state, overrides: new Map(state.overrides).set(event.label, event.isDisabled) });
  }
  const service = state.services.get(event.label);
  return service === undefined ? unchanged(state) : serviceEvent(state, service, event);
}

/** Names in `sysexits.h` from 64 on, which launchctl prints after the number. */
const exitNames = (
  'EX_USAGE EX_DATAERR EX_NOINPUT EX_NOUSER EX_NOHOST EX_UNAVAILABLE EX_SOFTWARE EX_OSERR ' +
  'EX_OSFILE EX_CANTCREAT EX_IOERR EX_TEMPFAIL EX_PROTOCOL EX_NOPERM EX_CONFIG'
).split(' ');

/** Each signal's name from macOS's strsignal(3), with its number. */
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
  if (exit?.kind === 'signalled') return `last terminating signal = ${signalNames[exit.signal] ?? exit.signal}`;
  if (exit?.kind !== 'exited') return 'last exit code = (never exited)';
  const name = exitNames[exit.code - 64];
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

/** The lines of the fields that have a value. */
const fields = (...pairs: readonly (readonly [string, string | number | undefined])[]): readonly string[] =>
  pairs.flatMap(([name, value]) => (value === undefined ? [] : [`\t${name} = ${value}`]));

/**
 * The output of `launchctl print system/LABEL` for a service, in the order of the two published captures. Fields are
 * indented by one tab; arguments and environments are in braces and unescaped.
 *
 * @see test/cases/sim/captures/launchctl-print.user-agent.not-running.full.txt
 */
export function printText(service: Service): string {
  const { job, path, phase, runs } = service;
  const environment = { ...job.environment, XPC_SERVICE_NAME: job.label };
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
    ...fields(['stdout path', job.standardOutPath], ['stderr path', job.standardErrorPath]),
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
    `\tproperties = ${job.keepAlive.kind === 'always' ? 'keepalive | ' : ''}${job.runAtLoad ? 'runatload | ' : ''}inferred program`,
    '}',
    '',
  ].join('\n');
}

/** The file where macOS stores the effect of `launchctl enable` and `disable`. */
export const overridesPath = '/private/var/db/com.apple.xpc.launchd/disabled.plist';

/** User ID of every node's user. */
export const agentUser = 501;

/** The same file for that user's agents, in ssh sessions and at the screen. */
export const agentOverridesPath = `/private/var/db/com.apple.xpc.launchd/disabled.${agentUser}.plist`;
