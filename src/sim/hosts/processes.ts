import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { markVariable } from './ssh/ssh-user.ts';

/**
 * A process's start time in the system's form: ticks since boot on Linux (field 22 of /proc/PID/stat), a date on other
 * systems. Two processes with the same number have different start times. Undefined if the process does not exist.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has exited, but its parent has not reaped it yet.
    return fields?.[0] === 'Z' ? undefined : fields?.[19];
  }
  const options = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, timeout: 5_000 };
  const found = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], options).catch(() => undefined);
  return found?.stdout.trim() || undefined;
}

/** Whether the process with this recorded number and start time is still alive. */
export const isSameProcess = async (pid: number, start: string): Promise<boolean> =>
  (await processStart(pid)) === start;

const surveyMs = 500;

/** Signals all processes of a group; false if the group is empty. Signal 0 only checks. */
function signalGroup(group: number, name: string | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}

/** Registers process groups with the lifeline, from their first process to their last. */
export function createProcessGroups(lifeline: Lifeline) {
  const running = new Set<number>();
  const orphaned = new Set<number>();
  const owners = new Map<number, string>();
  const ends = new Map<string, number>();
  let expected = 0;
  let isOver = false;
  const settle = (group: number): void => {
    if (signalGroup(group, 0)) {
      orphaned.add(group);
      return;
    }
    orphaned.delete(group);
    owners.delete(group);
    lifeline.release(group);
  };
  const survey = setInterval(() => {
    for (const group of orphaned) settle(group);
  }, surveyMs);
  survey.unref();
  /** `owner`: the node on which the group runs. */
  const add = (group: number, owner?: string): void => {
    running.add(group);
    if (owner !== undefined) owners.set(group, owner);
    lifeline.guard(group);
  };
  return {
    add,
    /** Call this before the first process of a group starts; the group counts from now on. */
    expect: (owner: string) => {
      const before = ends.get(owner);
      expected += 1;
      return {
        /** Adds the group. If all groups of its node were killed in the meantime, kills this group immediately. */
        started: (group: number): void => {
          expected -= 1;
          add(group, owner);
          if (isOver || ends.get(owner) !== before) signalGroup(group, 'SIGKILL');
        },
        failed: (): void => {
          expected -= 1;
        },
      };
    },
    /** Call this when the group's first process has exited. The other processes remain guarded until they exit too. */
    leaderEnded: (group: number): void => {
      running.delete(group);
      settle(group);
    },
    signal: (group: number, name: string): void => {
      if (running.has(group)) signalGroup(group, name);
    },
    /** Number of groups with living or expected processes. */
    count: (): number => running.size + orphaned.size + expected,
    killOwned: (owner: string): void => {
      ends.set(owner, (ends.get(owner) ?? 0) + 1);
      for (const [group, by] of owners) if (by === owner) signalGroup(group, 'SIGKILL');
    },
    /** Kills every group, and stops the checks. */
    killAll: (): void => {
      isOver = true;
      clearInterval(survey);
      for (const group of [...running, ...orphaned]) signalGroup(group, 'SIGKILL');
    },
  };
}

export type ProcessGroups = ReturnType<typeof createProcessGroups>;

/**
 * Kills every process whose environment has a run's mark, even one that left its group by setsid. In plain sh, because
 * it must also work after the simulator is gone. On Linux, it reads /proc; on other systems, `ps -E` shows the
 * environment of the user's processes. macOS hides the environment of its protected programs, which are killed through
 * their groups. The run id is never an argument, or the sweep would find itself.
 */
const sweepText = `
sweep() {
  for pass in 1 2 3 4 5; do
    found=
    if [ -r /proc/self/environ ]; then
      marked=$(grep -lasF "${markVariable}=$run." /proc/[0-9]*/environ 2>/dev/null)
    else
      marked=$(ps -axwwE -o pid=,command= 2>/dev/null | while read -r pid rest; do
        case $rest in (*"${markVariable}=$run."*) printf '%s\\n' "$pid" ;; esac
      done)
    fi
    for one in $marked; do
      one=\${one#/proc/}; one=\${one%/environ}
      [ "$one" != $$ ] && kill -s KILL "$one" 2>/dev/null && found=1 && printf '%s\\n' "$one"
    done
    [ -n "$found" ] || break
  done
}
`;

const guardText = `
trap '' HUP INT TERM QUIT PIPE USR1 USR2
read -r run || exit 0
groups=' '
while read -r sign group; do
  case $sign in
    (+) groups="$groups$group " ;;
    (-) case $groups in (*" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
    (.) exit 0 ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
${sweepText}
sweep >/dev/null
`;

const plain = { env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' }, cwd: '/' } as const;

/**
 * Starts the guard: a process that reads from a pipe whose only write end is in this process. When this process dies,
 * even by SIGKILL, the guard reads end-of-file, kills every registered group, and then sweeps by mark.
 */
export function startLifeline(runId: string) {
  const guardian = spawn('/bin/sh', ['-c', guardText], {
    ...plain,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const { stdin, pid } = guardian;
  if (pid === undefined) throw new Error('the guard of the simulated fleet did not start');
  const ended = once(guardian, 'exit');
  stdin.on('error', () => undefined);
  const say = (line: string): void => {
    if (stdin.writable) stdin.write(line);
  };
  say(`${runId}\n`);
  guardian.unref();
  return {
    /** The PID of the guard, which lives as long as the simulator. */
    pid,
    /** Registers a group, which from now on dies with the simulator. */
    guard: (group: number): void => say(`+ ${group}\n`),
    /** Unregisters an empty group, because a different process may soon get its number. */
    release: (group: number): void => say(`- ${group}\n`),
    /** Stops the guard normally, without killing anything. */
    close: async (): Promise<void> => {
      guardian.ref();
      if (stdin.writable) stdin.end('.\n');
      await ended;
    },
  };
}

export type Lifeline = ReturnType<typeof startLifeline>;

/** Kills all processes with the run's mark and returns how many there were. Takes at most a minute. */
export async function sweepMarked(runId: string): Promise<number> {
  const sweeper = spawn('/bin/sh', ['-c', `read -r run || exit 0\n${sweepText}\nsweep`], {
    ...plain,
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const closed = once(sweeper, 'close');
  sweeper.stdin.on('error', () => undefined);
  sweeper.stdin.end(`${runId}\n`);
  const [printed] = await Promise.all([text(sweeper.stdout), closed]);
  return new Set(printed.match(/.+/g)).size;
}
