import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type JobDefinition, type JobReading, readJob } from '../launchd/job-definition.ts';
import {
  agentOverridesPath,
  type LaunchctlAnswer,
  type LaunchctlCommand,
  overridesPath,
  overridesText,
  parseLaunchctl,
  printText,
  readOverrides,
  refusals,
  refusalWithoutRoot,
  succeeded,
} from '../launchd/launchctl.ts';
import {
  freshLaunchd,
  isDisabled,
  type JobSignal,
  type LaunchdEvent,
  type LaunchdState,
  launchdTransition,
  pidOf,
} from '../launchd/launchd-state.ts';
import { createRunner, type JobPlace, type LaunchdProcess, type StartJob, startJob } from './launchd-process.ts';

/** What the launchd of one node is made from. */
interface LaunchdOptions {
  /** Absolute folder that stands for `/` of the node. */
  readonly root: string;
  /** How its processes come to be. */
  readonly startJob: StartJob;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  /** The same for start intervals. */
  readonly intervalMs: (macMs: number) => number;
  /** Writes one line into the node's `/.sim/unknown`. */
  readonly objectTo: (line: string) => void;
  /** Told every text of a job before it is loaded, so that its addresses are known when it starts. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
}

/** Jobs as processes of this machine, below the root of the node. */
export const startBelow =
  (place: JobPlace): StartJob =>
  (job, onEnd) =>
    startJob(place, job, onEnd);

/** The launchd of one node, with real processes. It knows nothing before its first boot. */
export interface Launchd {
  /** Answers when what was asked for has happened: `bootout` waits for the process to end. */
  readonly launchctl: (request: LaunchctlRequest) => Promise<LaunchctlAnswer>;
  /** The start of macOS: loads what lies in /Library/LaunchDaemons, and starts what wants it. */
  readonly boot: () => Promise<void>;
  /** The end of macOS: TERM to every job, KILL after its exit timeout. Resolves when all have ended. */
  readonly shutdown: () => Promise<void>;
  /** The end of power: KILL at once. */
  readonly cut: () => void;
  /** The end of the fleet: KILL at once, and nothing that is still under way starts anything. */
  readonly close: () => void;
  readonly processes: () => readonly LaunchdProcess[];
  /** Sends a signal to one job, or to all of them; returns how many got it. */
  readonly signal: (name: JobSignal, label?: string) => number;
}

interface Waiter {
  readonly isTrue: (state: LaunchdState) => boolean;
  readonly resolve: () => void;
}

/** State that somebody can wait for, and that is shown in files whenever it has changed. */
function createShown(options: LaunchdOptions, files: LaunchdFiles) {
  const waiters = new Set<Waiter>();
  let state = freshLaunchd(new Map());
  let written: Promise<void> = Promise.resolve();
  const become = (wanted: LaunchdState): void => {
    if (wanted === state) return;
    state = wanted;
    const texts = [...state.services].map(([label, service]) => [label, printText(service)] as const);
    written = files.writePrints(new Map(texts));
    written.catch((error: unknown) => options.objectTo(`launchd: ${String(error)}`));
    for (const waiter of waiters) {
      if (!waiter.isTrue(state)) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
  };
  const until = (isTrue: Waiter['isTrue']): Promise<void> =>
    isTrue(state) ? Promise.resolve() : new Promise((resolve) => waiters.add({ isTrue, resolve }));
  return { state: () => state, become, until, settled: () => written };
}

/** Everything in a job that can hold an address or a port. */
const textsOf = (job: JobDefinition): readonly string[] => [...job.words, ...Object.values(job.environment)];

/** Loads every definition of the folder for daemons that launchd takes. */
async function loadDaemons(core: LaunchdCore): Promise<void> {
  for (const path of await core.files.daemons()) {
    const reading = await core.files.readDefinition(path);
    if (reading.kind === 'not-simulated') core.objectTo(`launchd: ${path}: ${reading.key}`);
    if (reading.kind !== 'job' || isDisabled(core.state(), reading.job)) continue;
    if (core.state().services.has(reading.job.label)) continue;
    await core.announce(reading.job);
    core.tell({ kind: 'load', job: reading.job, path });
  }
}

/** Makes the launchd of one node. */
export function createLaunchd(options: LaunchdOptions): Launchd {
  const files = launchdFiles(options.root);
  const shown = createShown(options, files);
  const tell = (event: LaunchdEvent): void => {
    const { state, acts } = launchdTransition(shown.state(), event);
    shown.become(state);
    for (const act of acts) runner.perform(act);
  };
  const runner = createRunner({ ...options, tell });
  /** Counts the ends of power: what was asked for before one of them happens to nobody after it. */
  let life = 0;
  let isOver = false;
  const coreOf = (born: number): LaunchdCore => ({
    ...shown,
    tell: (event) => {
      if (born === life && !isOver) tell(event);
    },
    files,
    objectTo: options.objectTo,
    announce: (job) => options.beforeLoad(textsOf(job)),
  });
  const cut = (): void => {
    life += 1;
    runner.cut();
    shown.become(freshLaunchd(new Map()));
  };
  let isUp = false;
  return {
    launchctl: async (request) => (isUp ? answerLaunchctl(coreOf(life), request) : refusals.down),
    boot: async () => {
      cut();
      const born = life;
      const core = coreOf(born);
      await shown.settled().catch(() => undefined);
      await files.clearPrints();
      shown.become(freshLaunchd(await files.readOverrides()));
      await loadDaemons(core);
      isUp = born === life && !isOver;
      await shown.settled();
    },
    shutdown: async () => {
      isUp = false;
      for (const label of shown.state().services.keys()) tell({ kind: 'unload', label });
      await shown.until(({ services }) => services.size === 0);
      cut();
    },
    cut: () => {
      isUp = false;
      cut();
    },
    close: () => {
      isOver = true;
      isUp = false;
      cut();
    },
    processes: runner.processes,
    signal: runner.signal,
  };
}

/** A request of the tool. */
interface LaunchctlRequest {
  /** Behind the name of the tool. */
  readonly args: readonly string[];
  readonly isRoot: boolean;
}

/** What the answers to launchctl are made with. */
interface LaunchdCore {
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
async function answerLaunchctl(core: LaunchdCore, request: LaunchctlRequest): Promise<LaunchctlAnswer> {
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

/** Where `launchctl print` finds its answers, one file per label. */
const printFolder = '/.sim/launchd';

/** What comes with macOS, and what others put there. */
const daemonFolders = ['/System/Library/LaunchDaemons', '/Library/LaunchDaemons'] as const;
const groupOrOtherWrites = 0o022;

/** Files of launchd below the root of one node. */
interface LaunchdFiles {
  /** Makes the answers of `launchctl print` be exactly these, each by a rename. One after the other. */
  readonly writePrints: (texts: ReadonlyMap<string, string>) => Promise<void>;
  /** Takes away what an earlier run or boot has left. */
  readonly clearPrints: () => Promise<void>;
  readonly readOverrides: () => Promise<ReadonlyMap<string, boolean>>;
  readonly writeOverrides: (overrides: ReadonlyMap<string, boolean>) => Promise<void>;
  /** Keeps what was said of an agent of the user beside what was said before. */
  readonly overrideAgent: (label: string, isDisabled: boolean) => Promise<void>;
  /** Property lists of the folders for daemons, as a Mac knows them, sorted within each. */
  readonly daemons: () => Promise<readonly string[]>;
  /** Reads a property list; launchd takes only what group and others cannot write. */
  readonly readDefinition: (path: string) => Promise<JobReading>;
}

async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.sim-new-${process.pid}`);
  await writeFile(temporary, text);
  await rename(temporary, path);
}

async function readDefinition(root: string, path: string): Promise<JobReading> {
  const refused = (reason: string): JobReading => ({ kind: 'refused', reason });
  if (!path.startsWith('/') || path.split('/').includes('..')) return refused('it is no absolute path');
  const found = await stat(root + path).catch(() => undefined);
  if (found?.isFile() !== true) return refused('there is no such file');
  if ((found.mode & groupOrOtherWrites) !== 0) return refused('others can write it');
  return readJob(await readFile(root + path, 'utf8'));
}

/** Opens the files of launchd of the node with this root. */
function launchdFiles(root: string): LaunchdFiles {
  const folder = root + printFolder;
  let written: ReadonlyMap<string, string> = new Map();
  let turn: Promise<void> = Promise.resolve();

  const write = async (texts: ReadonlyMap<string, string>): Promise<void> => {
    for (const [label, text] of texts) if (written.get(label) !== text) await replace(join(folder, label), text);
    for (const label of written.keys()) if (!texts.has(label)) await rm(join(folder, label), { force: true });
    written = texts;
  };
  return {
    writePrints: (texts) => {
      turn = turn.catch(() => undefined).then(() => write(texts));
      return turn;
    },
    clearPrints: async () => {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      written = new Map();
    },
    readOverrides: async () => readOverrides(await readFile(root + overridesPath, 'utf8').catch(() => '')),
    writeOverrides: (overrides) => replace(root + overridesPath, overridesText(overrides)),
    overrideAgent: (label, isDisabled) => {
      turn = turn
        .catch(() => undefined)
        .then(async () => {
          const before = readOverrides(await readFile(root + agentOverridesPath, 'utf8').catch(() => ''));
          await replace(root + agentOverridesPath, overridesText(new Map([...before, [label, isDisabled]])));
        });
      return turn;
    },
    daemons: async () => {
      const lists = daemonFolders.map(async (folder) => {
        const names = await readdir(root + folder).catch((): string[] => []);
        return names.filter((name) => name.endsWith('.plist')).map((name) => `${folder}/${name}`);
      });
      return (await Promise.all(lists)).flatMap((paths) => paths.sort());
    },
    readDefinition: (path) => readDefinition(root, path),
  };
}
