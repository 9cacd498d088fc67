import type { JobDefinition } from '../../launchd/job-definition.ts';
import {
  type LaunchctlAnswer,
  type LaunchctlCommand,
  parseLaunchctl,
  refusals,
  refusalWithoutRoot,
  succeeded,
} from '../../launchd/launchctl-command.ts';
import { isDisabled, type LaunchdEvent, type LaunchdState, pidOf } from '../../launchd/launchd-state.ts';
import type { LaunchdFiles } from './launchd-files.ts';

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
  readonly files: LaunchdFiles;
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

async function override(core: LaunchdCore, label: string, isDisabledNow: boolean): Promise<LaunchctlAnswer> {
  core.tell({ kind: 'override', label, isDisabled: isDisabledNow });
  await core.files.writeOverrides(core.state().overrides);
  return succeeded();
}

/** No agent is simulated: what is said of one is kept in its file, and nothing else follows from it. */
async function overrideAgent(core: LaunchdCore, label: string, isDisabledNow: boolean): Promise<LaunchctlAnswer> {
  await core.files.overrideAgent(label, isDisabledNow);
  return succeeded();
}

function answer(core: LaunchdCore, command: LaunchctlCommand): Promise<LaunchctlAnswer> | LaunchctlAnswer {
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
      return command.isAgent
        ? overrideAgent(core, command.label, command.kind === 'disable')
        : override(core, command.label, command.kind === 'disable');
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
