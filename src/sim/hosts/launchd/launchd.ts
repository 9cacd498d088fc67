import type { JobDefinition } from '../../launchd/job-definition.ts';
import { type LaunchctlAnswer, refusals } from '../../launchd/launchctl-command.ts';
import {
  freshLaunchd,
  isDisabled,
  type JobSignal,
  type LaunchdEvent,
  type LaunchdState,
  launchdTransition,
} from '../../launchd/launchd-state.ts';
import { printText } from '../../launchd/print-text.ts';
import { answerLaunchctl, type LaunchctlRequest, type LaunchdCore } from './launchd-commands.ts';
import { type LaunchdFiles, launchdFiles } from './launchd-files.ts';
import { type JobPlace, type StartJob, startJob } from './launchd-process.ts';
import { createRunner, type LaunchdProcess } from './launchd-runner.ts';

/** What the launchd of one node is made from. */
export interface LaunchdOptions {
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
