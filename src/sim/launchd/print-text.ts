import type { Exit } from '../../model/exit.ts';
import { type Phase, pidOf, type Service } from './launchd-state.ts';

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
