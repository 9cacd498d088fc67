import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exit } from '../../model/probe.ts';
import { type JobDefinition, type JobReading, readJob } from '../launchd/job-definition.ts';
import {
  agentOverridesPath,
  answerLaunchctl,
  type LaunchctlAnswer,
  type LaunchctlRequest,
  type LaunchdCore,
  overridesPath,
  overridesText,
  printText,
  readOverrides,
  refusals,
} from '../launchd/launchctl.ts';
import {
  freshLaunchd,
  isDisabled,
  type JobSignal,
  type LaunchdAct,
  type LaunchdEvent,
  type LaunchdState,
  launchdTransition,
} from '../launchd/launchd-state.ts';
import type { JobProcess, StartJob } from './launchd-process.ts';
import { replaceFile } from './replace-file.ts';
import { createTurns } from './turns.ts';

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

/** State that somebody can wait for, and that is shown in files whenever it has changed. */
function createShown(options: LaunchdOptions, files: ReturnType<typeof launchdFiles>) {
  const waiters = new Set<{ readonly isTrue: (state: LaunchdState) => boolean; readonly resolve: () => void }>();
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
  const until = (isTrue: (state: LaunchdState) => boolean): Promise<void> =>
    isTrue(state) ? Promise.resolve() : new Promise((resolve) => waiters.add({ isTrue, resolve }));
  return { state: () => state, become, until, settled: () => written };
}

/** Everything in a job that can hold an address or a port. */
const textsOf = (job: JobDefinition): readonly string[] => [...job.words, ...Object.values(job.environment)];

/** Loads every definition of these folders for daemons that launchd takes. */
async function loadDaemons(core: LaunchdCore, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const reading = await core.files.readDefinition(path);
    if (reading.kind === 'not-simulated') core.objectTo(`launchd: ${path}: ${reading.key}`);
    if (reading.kind !== 'job' || isDisabled(core.state(), reading.job)) continue;
    if (core.state().services.has(reading.job.label)) continue;
    await core.announce(reading.job);
    core.tell({ kind: 'load', job: reading.job, path });
  }
}

/** Makes the launchd of one node, with real processes. It knows nothing before its first boot. */
export function createLaunchd(options: LaunchdOptions) {
  const files = launchdFiles(options.root);
  const shown = createShown(options, files);
  const tell = (event: LaunchdEvent): void => {
    const { state, acts } = launchdTransition(shown.state(), event);
    shown.become(state);
    for (const act of acts) runner.perform(act);
  };
  const runner = createRunner(options, tell);
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
    /** Answers when what was asked for has happened: `bootout` waits for the process to end. */
    launchctl: async (request: LaunchctlRequest): Promise<LaunchctlAnswer> =>
      isUp ? answerLaunchctl(coreOf(life), request) : refusals.down,
    /** The start of macOS: loads what lies in /Library/LaunchDaemons, and starts what wants it. */
    boot: async (): Promise<void> => {
      cut();
      const born = life;
      const core = coreOf(born);
      await shown.settled().catch(() => undefined);
      await files.clearPrints();
      shown.become(freshLaunchd(await files.readOverrides()));
      await loadDaemons(core, await files.daemons());
      isUp = born === life && !isOver;
      await shown.settled();
    },
    /** The end of macOS: TERM to every job, KILL after its exit timeout. Resolves when all have ended. */
    shutdown: async (): Promise<void> => {
      isUp = false;
      for (const label of shown.state().services.keys()) tell({ kind: 'unload', label });
      await shown.until(({ services }) => services.size === 0);
      cut();
    },
    /** The end of power: KILL at once. */
    cut: (): void => {
      isUp = false;
      cut();
    },
    /** The end of the fleet: KILL at once, and nothing that is still under way starts anything. */
    close: (): void => {
      isOver = true;
      isUp = false;
      cut();
    },
    processes: runner.processes,
    signal: runner.signal,
  };
}

/** The launchd of one node. */
export type Launchd = ReturnType<typeof createLaunchd>;

/** Acts that are still to come; none of them keeps the simulator alive. */
function createTimers() {
  const timers = new Set<NodeJS.Timeout>();
  return {
    later: (ms: number, act: () => void): void => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        act();
      }, ms);
      timers.add(timer.unref());
    },
    clear: (): void => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/**
 * Carries out what launchd decides, with real processes and a scaled clock, and tells what became of it: `started` and
 * `not-started` while the act is still being carried out.
 */
function createRunner({ startJob, scaledMs, intervalMs }: LaunchdOptions, tell: (event: LaunchdEvent) => void) {
  const running = new Map<string, JobProcess>();
  const startedAtMs = new Map<string, number>();
  const timers = createTimers();
  /** Counts cuts: what ends late belongs to a Mac that is not there any more. */
  let life = 0;

  const start = (job: JobDefinition): void => {
    const { label } = job;
    const born = life;
    const onEnd = (exit: Exit, pid: number): void => {
      if (running.get(label)?.pid === pid) running.delete(label);
      if (born === life) tell({ kind: 'ended', label, exit });
    };
    const child = startJob(job, onEnd);
    startedAtMs.set(label, Date.now());
    if (child !== undefined) running.set(label, child);
    tell(child === undefined ? { kind: 'not-started', label } : { kind: 'started', label, pid: child.pid });
  };
  const kill = (label: string, pid: number): void => {
    const child = running.get(label);
    if (child?.pid === pid) child.signal('SIGKILL');
  };
  return {
    perform: (act: LaunchdAct): void => {
      const ms = 'seconds' in act ? scaledMs(act.seconds * 1000) : 0;
      switch (act.kind) {
        case 'start':
          start(act.job);
          break;
        case 'signal':
          running.get(act.label)?.signal(act.signal);
          break;
        case 'kill-later':
          timers.later(ms, () => kill(act.label, act.pid));
          break;
        case 'wake': {
          const waitMs = (startedAtMs.get(act.label) ?? 0) + ms - Date.now();
          timers.later(Math.max(0, waitMs), () => tell({ kind: 'due', label: act.label }));
          break;
        }
        case 'recur': {
          const { label, job, seconds } = act;
          timers.later(intervalMs(seconds * 1000), () => tell({ kind: 'interval', label, job }));
        }
      }
    },
    /** Those that launchd has started and that have not ended. */
    processes: () => [...running].map(([label, { pid }]) => ({ label, pid })),
    /** To one job, or to all; returns how many got it. */
    signal: (name: JobSignal, label?: string): number => {
      const wanted = [...running].filter(([one]) => label === undefined || one === label);
      for (const [, child] of wanted) child.signal(name);
      return wanted.length;
    },
    /** KILL to everything; what ends from now on is told to nobody. */
    cut: (): void => {
      life += 1;
      timers.clear();
      for (const child of running.values()) child.signal('SIGKILL');
      running.clear();
    },
  };
}

/** Where `launchctl print` finds its answers, one file per label. */
const printFolder = '/.sim/launchd';

/** What comes with macOS, and what others put there. */
const daemonFolders = ['/System/Library/LaunchDaemons', '/Library/LaunchDaemons'] as const;
const groupOrOtherWrites = 0o022;

async function readDefinition(root: string, path: string): Promise<JobReading> {
  const refused = (reason: string): JobReading => ({ kind: 'refused', reason });
  if (!path.startsWith('/') || path.split('/').includes('..')) return refused('it is no absolute path');
  const found = await stat(root + path).catch(() => undefined);
  if (found?.isFile() !== true) return refused('there is no such file');
  if ((found.mode & groupOrOtherWrites) !== 0) return refused('others can write it');
  return readJob(await readFile(root + path, 'utf8'));
}

/** Opens the files of launchd of the node with this root. */
function launchdFiles(root: string) {
  const folder = root + printFolder;
  let written: ReadonlyMap<string, string> = new Map();
  const turn = createTurns();
  return {
    /** Makes the answers of `launchctl print` be exactly these, each by a rename. One after the other. */
    writePrints: (texts: ReadonlyMap<string, string>): Promise<void> =>
      turn(async () => {
        for (const [label, text] of texts) {
          if (written.get(label) !== text) await replaceFile(join(folder, label), text);
        }
        for (const label of written.keys()) if (!texts.has(label)) await rm(join(folder, label), { force: true });
        written = texts;
      }),
    /** Takes away what an earlier run or boot has left. */
    clearPrints: async (): Promise<void> => {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      written = new Map();
    },
    readOverrides: async () => readOverrides(await readFile(root + overridesPath, 'utf8').catch(() => '')),
    writeOverrides: (overrides: ReadonlyMap<string, boolean>) =>
      replaceFile(root + overridesPath, overridesText(overrides)),
    overrideAgent: (label: string, isDisabled: boolean): Promise<void> =>
      turn(async () => {
        const before = readOverrides(await readFile(root + agentOverridesPath, 'utf8').catch(() => ''));
        await replaceFile(root + agentOverridesPath, overridesText(new Map([...before, [label, isDisabled]])));
      }),
    /** Property lists of the folders for daemons, as a Mac knows them, sorted within each. */
    daemons: async () => {
      const lists = daemonFolders.map(async (folder) => {
        const names = await readdir(root + folder).catch((): string[] => []);
        return names.filter((name) => name.endsWith('.plist')).map((name) => `${folder}/${name}`);
      });
      return (await Promise.all(lists)).flatMap((paths) => paths.sort());
    },
    readDefinition: (path: string) => readDefinition(root, path),
  };
}
