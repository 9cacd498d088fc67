import { spawnSync } from 'node:child_process';
import { afterAll, expect } from 'vitest';
import type { RankRecord } from '../../../../src/model/facts/fact-values.ts';
import type { StartOutcome } from '../../../../src/model/facts/node-records.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { placementFolder, serviceFile } from '../../../../src/node/paths/own-paths.ts';
import { until } from '../../../until.ts';
import { changed, type MacRoot, makeMacRoot, run } from './mac-root.ts';
import { exampleRecord } from './script-examples.ts';
import type { Shell } from './shells.ts';

/** True if a process is running; zombies, which some processes become here, do not count. */
export const isAlive = (pid: number): boolean =>
  /^[^Z]/.test(spawnSync('/bin/ps', ['-o', 'stat=', '-p', String(pid)]).stdout.toString());

/** The numbers of all processes that ever ran as the rank or were started by it. */
export const processesOf = (root: MacRoot): readonly number[] =>
  root.has('../ran') ? root.read('../ran').split('\n').filter(Boolean).map(Number) : [];

/** launchd with one service; the job's process leads its process group, as on a Mac. */
const launchctl = `s="$R/../launchd"
case $1 in
(print)
  [ -e "$s/loaded" ] || { printf 'Bad request.\\nCould not find service "%s" in domain for system\\n' "$2" >&2; exit 113; }
  pid=$(/bin/cat "$s/pid" 2>/dev/null)
  printf '%s = {\\n\\tactive count = 0\\n' "$2"
  case $([ -z "$pid" ] || /bin/ps -o stat= -p "$pid") in ('' | Z*) pid= ;; esac
  if [ -e "$s/scheduled" ] && [ -n "$pid" ]; then
    printf x >>"$s/scheduled"
    [ "$(/bin/cat "$s/scheduled")" = xxxxxxxxxxxx ] && /bin/rm "$s/scheduled"
    printf '\\tstate = spawn scheduled\\n'
  elif [ -n "$pid" ]; then printf '\\tstate = running\\n\\n\\tprogram = x\\n\\truns = 1\\n\\tpid = %s\\n' "$pid"
  else printf '\\tstate = not running\\n\\targuments = {\\n\\t\\tpid = 1\\n\\t}\\n\\truns = 0\\n'; fi
  printf '}\\n' ;;
(bootstrap)
  [ -e "$s/broken" ] && { printf 'Bootstrap failed: 5: Input/output error\\n' >&2; exit 5; }
  [ -e "$s/loaded" ] && { printf 'Bootstrap failed: 5: Input/output error\\n' >&2; exit 5; }
  : >"$s/loaded" ;;
(bootout)
  [ -e "$s/loaded" ] || { printf 'Boot-out failed: 3: No such process\\n' >&2; exit 3; }
  /bin/rm -f "$s/loaded" "$s/pid" ;;
(kickstart)
  [ -e "$s/loaded" ] || exit 113
  /usr/bin/perl -e 'use POSIX; POSIX::setsid(); exec @ARGV' /bin/sh "$R/../program" "$R/../ran" </dev/null >/dev/null 2>&1 &
  printf '%s' "$!" >"$s/pid"
  [ ! -e "$s/slow" ] || wait "$!" || : ;;
(kill) p=$(/bin/cat "$s/pid") && kill -s "\${2#SIG}" "$p" ;;
esac`;

/**
 * The node's vm_stat, in pages of 16 KiB: 16 GiB unless the file `pages` next to the root contains a different number.
 */
export const vmStat = `printf 'Mach Virtual Memory Statistics: (page size of 16384 bytes)\\n'
printf 'Pages free:                                  9563156.\\nPages wired down:                            %s.\\n' \\
  "$(/bin/cat "$R/../pages" 2>/dev/null || printf 1048576)"`;

const sample = `[ ! -e "$R/../sample-hangs" ] || exec /bin/sleep 600
printf 'Analysis of sampling process %s\\n' "$1" >"$4"`;

/**
 * Programs of a rank. Each writes its PIDs to the file in its first argument, once its signal handling is
 * set.
 */
const programs = {
  obeys: 'printf "%s\\n" "$$" >>"$1"\nexec /bin/sleep 600',
  // A shell cannot trap a signal that its parent made it ignore, such as INT after `&`.
  'obeys INT': `exec /usr/bin/perl -e '$SIG{INT} = sub { exit 0 }; $SIG{TERM} = "IGNORE";
open my $ran, ">>", shift; print $ran "$$\\n"; close $ran; sleep 1 while 1' "$1"`,
  ignores: 'trap "" TERM\nprintf "%s\\n" "$$" >>"$1"\nexec /bin/sleep 600',
  'leaves a child': `printf "%s\\n" "$$" >>"$1"
(trap "" TERM; exec /bin/sleep 600) &
printf "%s\\n" "$!" >>"$1"
trap 'exit 0' TERM
wait`,
  'ends at once': 'exit 3',
};

/** The call that prepares the rank. */
export const record = (more: Partial<RankRecord> = {}, user = 'mesh'): ScriptCall => ({
  name: 'bootstrap-rank',
  args: {
    record: { ...exampleRecord, ...more },
    request: '{"prompt":"it\'s \\n"}',
    user,
    files: [],
    links: [],
    folders: [],
  },
});
/** The call that starts the rank. */
export const kick = (generation = 3, transport: 'rdma' | 'tcp' = 'tcp'): ScriptCall => ({
  name: 'kick-rank',
  args: { placement: 'kimi', generation, transport, startMs: 30_000 },
});
/** The call that starts a rank that runs as this account. */
export const kickAs = (user: string): ScriptCall => ({
  name: 'kick-rank',
  args: { placement: 'kimi', generation: 3, transport: 'tcp', startMs: 30_000, user },
});
/** The call that stops the rank. */
export const stop = (graceMs = 250, interruptMs?: number): ScriptCall => ({
  name: 'stop-rank',
  args: { placement: 'kimi', graceMs, ...(interruptMs === undefined ? {} : { interruptMs }) },
});
/** The call that stops the rank and records the outcome of its start. */
export const stopAs = (outcome: StartOutcome): ScriptCall => ({
  name: 'stop-rank',
  args: { placement: 'kimi', graceMs: 250, outcome },
});
/** The call that stops the rank before a reboot of the Mac. */
export const stopBeforeReboot: ScriptCall = {
  name: 'stop-rank',
  args: { placement: 'kimi', graceMs: 250, beforeReboot: true },
};
/** The call that removes the rank with all its files. */
export const remove: ScriptCall = { name: 'remove-rank', args: { placement: 'kimi' } };
/** The lines of the rank's record. */
export const recordOf = (root: MacRoot): readonly string[] =>
  root.read(`${placementFolder('kimi').path}/record`).split('\n');
/** The tool calls that changed something. */
export const writes = (root: MacRoot): readonly string[] =>
  root.calls().filter((call) => !call.startsWith('launchctl print'));
/** Waits until a process of the rank is running. */
export const isRunning = (root: MacRoot): Promise<void> => until(() => processesOf(root).some(isAlive));

/** Creates nodes whose launchd has one rank. */
export interface RankRoots {
  readonly newRoot: (shell: Shell, program?: keyof typeof programs) => MacRoot;
  /** Creates a node whose rank was prepared and started. */
  readonly started: (shell: Shell, program: keyof typeof programs) => Promise<MacRoot>;
}

/** Call it once per test file: after its tests, the nodes are removed. */
export function rankRoots(): RankRoots {
  const roots: MacRoot[] = [];
  afterAll(() => {
    for (const root of roots) {
      for (const pid of processesOf(root)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      root.remove();
    }
  });
  function newRoot(shell: Shell, program: keyof typeof programs = 'obeys'): MacRoot {
    const root = makeMacRoot(shell);
    root.file('../launchd/x', '');
    root.file('../program', programs[program]);
    root.recorded('bin/launchctl', launchctl);
    root.tool('usr/bin/vm_stat', vmStat);
    root.recorded('usr/bin/sample', sample);
    root.file(serviceFile('kimi').path, '<plist/>');
    roots.push(root);
    return root;
  }
  async function started(shell: Shell, program: keyof typeof programs): Promise<MacRoot> {
    const root = newRoot(shell, program);
    await run(root, record());
    expect(await run(root, kick())).toEqual(changed);
    await isRunning(root);
    return root;
  }
  return { newRoot, started };
}
