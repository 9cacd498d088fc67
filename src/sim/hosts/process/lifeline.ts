import { spawn } from 'node:child_process';
import { markVariable } from '../ssh/exec-environment.ts';

/**
 * Ends every process whose environment carries the mark of a run, also one that left its group by setsid. In plain
 * sh, because it must also run when the simulator is gone. Linux reads /proc; elsewhere `ps -E` shows the
 * environment of own processes (macOS hides that of its protected binaries: there the groups do the work).
 * The run id never stands in an argument, or the sweep would find itself.
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

const plainEnvironment = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' };

/** Watches over the process groups of one simulated fleet. */
export interface Lifeline {
  /** The process that holds the reading end; it lives as long as the simulator. */
  readonly pid: number;
  /** From now on the group dies with the simulator. */
  readonly guard: (group: number) => void;
  /** The group is empty: its number may soon belong to somebody else. */
  readonly release: (group: number) => void;
  /** Normal end: the guard leaves without killing anything. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the guard: a reader on a pipe whose only writing end belongs to this process. When this process dies, also
 * by SIGKILL, the guard reads the end of the file and kills every group it was told of, then sweeps by mark.
 */
export function startLifeline(runId: string): Lifeline {
  const guardian = spawn('/bin/sh', ['-c', guardText], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: plainEnvironment,
    cwd: '/',
  });
  const { stdin, pid } = guardian;
  if (pid === undefined) throw new Error('the guard of the simulated fleet did not start');
  const ended = new Promise<void>((resolve) => {
    guardian.once('exit', () => resolve());
  });
  stdin.on('error', () => undefined);
  const say = (line: string): void => {
    if (stdin.writable) stdin.write(line);
  };
  say(`${runId}\n`);
  guardian.unref();
  return {
    pid,
    guard: (group) => say(`+ ${group}\n`),
    release: (group) => say(`- ${group}\n`),
    close: async () => {
      guardian.ref();
      if (stdin.writable) stdin.end('.\n');
      await ended;
    },
  };
}

/** Kills what still carries the mark of the run, and returns how many processes that were. At most a minute. */
export function sweepMarked(runId: string): Promise<number> {
  const sweeper = spawn('/bin/sh', ['-c', `read -r run || exit 0\n${sweepText}\nsweep`], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: plainEnvironment,
    cwd: '/',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  sweeper.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString('latin1');
  });
  sweeper.stdin.on('error', () => undefined);
  sweeper.stdin.end(`${runId}\n`);
  return new Promise((resolve, reject) => {
    sweeper.once('error', reject);
    sweeper.once('close', () => resolve(new Set(printed.split('\n').filter((line) => line !== '')).size));
  });
}
