import type { JobSignal } from './launchd-state.ts';
import { agentUser } from './overrides.ts';

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
