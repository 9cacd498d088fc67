import type { Exit } from '../../../model/exit.ts';
import type { JobDefinition } from '../../launchd/job-definition.ts';
import type { JobSignal, LaunchdAct, LaunchdEvent } from '../../launchd/launchd-state.ts';
import type { JobProcess, StartJob } from './launchd-process.ts';

/** What launchd's acts are carried out with. */
export interface RunnerOptions {
  readonly startJob: StartJob;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  /** The same for start intervals. */
  readonly intervalMs: (macMs: number) => number;
  /** Told what became of it; `started` and `not-started` while the act is still being carried out. */
  readonly tell: (event: LaunchdEvent) => void;
}

/** A process that launchd has started and that has not ended. */
export interface LaunchdProcess {
  readonly label: string;
  readonly pid: number;
}

/** The processes and timers of one launchd. */
export interface Runner {
  readonly perform: (act: LaunchdAct) => void;
  readonly processes: () => readonly LaunchdProcess[];
  /** To one job, or to all; returns how many got it. */
  readonly signal: (name: JobSignal, label?: string) => number;
  /** KILL to everything; what ends from now on is told to nobody. */
  readonly cut: () => void;
}

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

/** Carries out what launchd decides, with real processes and a scaled clock. */
export function createRunner({ startJob, scaledMs, intervalMs, tell }: RunnerOptions): Runner {
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
    perform: (act) => {
      const ms = 'seconds' in act ? scaledMs(act.seconds * 1000) : 0;
      switch (act.kind) {
        case 'start':
          return start(act.job);
        case 'signal':
          return running.get(act.label)?.signal(act.signal);
        case 'kill-later':
          return timers.later(ms, () => kill(act.label, act.pid));
        case 'wake': {
          const waitMs = (startedAtMs.get(act.label) ?? 0) + ms - Date.now();
          return timers.later(Math.max(0, waitMs), () => tell({ kind: 'due', label: act.label }));
        }
        case 'recur': {
          const { label, job, seconds } = act;
          return timers.later(intervalMs(seconds * 1000), () => tell({ kind: 'interval', label, job }));
        }
      }
    },
    processes: () => [...running].map(([label, { pid }]) => ({ label, pid })),
    signal: (name, label) => {
      const wanted = [...running].filter(([one]) => label === undefined || one === label);
      for (const [, child] of wanted) child.signal(name);
      return wanted.length;
    },
    cut: () => {
      life += 1;
      timers.clear();
      for (const child of running.values()) child.signal('SIGKILL');
      running.clear();
    },
  };
}
