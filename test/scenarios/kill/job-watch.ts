import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** A process of a job. */
interface JobProcess {
  readonly pid: number;
  readonly parent: number;
  /** The path of the job's program. */
  readonly job: string;
}

const jobPath = /^\S*\/roots\/\S.*?\/ops\/[0-9a-f]{64}\/run/;

const intervalMs = 15;

/** Without this process table, for example on a Mac, jobs are not watched. */
export const canWatchJobs = existsSync('/proc/self/stat');

/** The time after its first observation in which a process may still become a different program. */
const youngMs = 500;

/** The path of a job is at the start of its command line, and the command line of an observation has many kilobytes. */
const front = Buffer.alloc(1_024);

function frontOf(file: string): string {
  const fd = openSync(file, 'r');
  try {
    return front.toString('latin1', 0, readSync(fd, front));
  } finally {
    closeSync(fd);
  }
}

function readJob(name: string, root: string): JobProcess | undefined {
  try {
    const command = frontOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ');
    const from = command.indexOf(root);
    const [job] = (from < 0 ? undefined : jobPath.exec(command.slice(from))) ?? [];
    if (job === undefined) return undefined;
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : { pid: Number(name), parent: Number(parent), job };
  } catch {
    // The process exited at this very moment.
    return undefined;
  }
}

/** Finds every job process below a folder. Old processes that belong to no job are not read again. */
function findJobs(root: string): () => readonly JobProcess[] {
  const firstSeenMs = new Map<string, number>();
  const others = new Set<string>();
  return () => {
    const names = new Set(readdirSync('/proc').filter((name) => /^\d+$/.test(name)));
    for (const gone of [...firstSeenMs.keys()].filter((name) => !names.has(name))) {
      firstSeenMs.delete(gone);
      others.delete(gone);
    }
    const nowMs = performance.now();
    return [...names].flatMap((name) => {
      if (others.has(name)) return [];
      if (!firstSeenMs.has(name)) firstSeenMs.set(name, nowMs);
      const found = readJob(name, root);
      if (found === undefined && nowMs - (firstSeenMs.get(name) ?? nowMs) > youngMs) others.add(name);
      return found ?? [];
    });
  };
}

/** The number of live copies of each job, by the path of its program. Forks of a copy have its command line too. */
function copiesIn(found: readonly JobProcess[]): ReadonlyMap<string, number> {
  const pids = new Set(found.map(({ pid }) => pid));
  const counts = new Map<string, number>();
  for (const { job, parent } of found) {
    if (!pids.has(parent)) counts.set(job, (counts.get(job) ?? 0) + 1);
  }
  return counts;
}

/** Watches the jobs of simulated Macs while it is switched on, until it is closed. */
export interface JobWatch {
  /** Switches the watch on or off, since watching costs as much as a Mac. */
  readonly watch: (hasJobs: boolean) => void;
  /** How often a job was observed alive. */
  readonly seen: () => number;
  /** Jobs with several simultaneous copies since the last call. */
  readonly takeDoubled: () => readonly string[];
  readonly close: () => void;
}

/** Watches every job below a folder, if this machine has a process table that is cheap to read. */
export function watchJobs(root: string): JobWatch {
  const doubled = new Set<string>();
  let alive = 0;
  let timer: NodeJS.Timeout | undefined;
  const find = findJobs(`${root}/`);
  const look = (): void => {
    const now = copiesIn(find());
    alive += now.size;
    for (const [job, count] of now) if (count > 1) doubled.add(job);
  };
  return {
    watch: (hasJobs) => {
      clearInterval(timer);
      timer = hasJobs && canWatchJobs ? setInterval(look, intervalMs).unref() : undefined;
    },
    seen: () => alive,
    takeDoubled: () => {
      const found = [...doubled];
      doubled.clear();
      return found;
    },
    close: () => clearInterval(timer),
  };
}
