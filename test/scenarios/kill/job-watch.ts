import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** One process of this computer. */
interface OneProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its words, joined by blanks. */
  readonly command: string;
}

const intervalMs = 15;

/** Without this table, as on a Mac, jobs are not watched. */
export const canWatchJobs = existsSync('/proc/self/stat');

/** Every process whose command line has this text. */
function processesWith(text: string): readonly OneProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (!command.includes(text)) return [];
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      // It ended in this very moment.
      return [];
    }
  });
}

/** How many copies of each job live, by the path of its program. Forks of a copy have its command line, too. */
function copies(root: string): ReadonlyMap<string, number> {
  const all = processesWith(`${root}/`).flatMap((one) => {
    const [job] = /\S*\/roots\/\S.*?\/ops\/[0-9a-f]{64}\/run/.exec(one.command) ?? [];
    return job === undefined ? [] : [{ ...one, job }];
  });
  const pids = new Set(all.map(({ pid }) => pid));
  const counts = new Map<string, number>();
  for (const { job, parent } of all) {
    if (!pids.has(parent)) counts.set(job, (counts.get(job) ?? 0) + 1);
  }
  return counts;
}

/** Looks at the jobs of simulated Macs for as long as it is not closed. */
export interface JobWatch {
  /** How often a job was seen alive. */
  readonly seen: () => number;
  /** Jobs of which several copies were seen at once since this was asked last. */
  readonly takeDoubled: () => readonly string[];
  readonly close: () => void;
}

/** Watches every job below a folder, where there is a process table that is cheap to read. */
export function watchJobs(root: string): JobWatch {
  const doubled = new Set<string>();
  let alive = 0;
  const look = (): void => {
    const now = copies(root);
    alive += now.size;
    for (const [job, count] of now) if (count > 1) doubled.add(job);
  };
  const timer = canWatchJobs ? setInterval(look, intervalMs).unref() : undefined;
  return {
    seen: () => alive,
    takeDoubled: () => {
      const found = [...doubled];
      doubled.clear();
      return found;
    },
    close: () => clearInterval(timer),
  };
}
