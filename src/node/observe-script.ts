/**
 * The one script that runs every probe of an observation.
 *
 * It works in dash and in Apple's bash 3.2 (`/bin/sh`), and uses stock tools by absolute path. It writes only to one
 * private folder, which it removes at the end. It needs one process per probe, and six more for mktemp, the watchdog,
 * the watchdog's sleep, wc, cat and rm.
 */
import type { Probe } from '../model/probe.ts';
import { below, pathWord, place, rootLine, scriptCommand, shellCommand, tool } from './paths/node-paths.ts';

/**
 * Seconds between ALRM, which a probe gets at its deadline, and KILL. TERM would not work, because the main shell traps
 * it: a forked child that has not reset its parent's traps yet would lose a TERM (dash), or run the trap as if it were
 * the main shell (bash). For the same reason, there is no trap on EXIT: with such a trap, bash catches every fatal
 * signal, and such a child removes the shared folder (seen in 1 of 20 runs).
 */
const graceSeconds = 1;
interface TimingRequest {
  readonly probes: readonly Probe[];
  /**
   * Limit in milliseconds from the start to the last frame, whatever hangs; later deadlines are shortened. Rounded to
   * whole seconds from 4 s upwards and to half seconds below, so that small differences between connections do not
   * change the script's bytes. Absent: only each probe's own deadline applies.
   */
  readonly budgetMs?: number;
}

/** One step of the watchdog: the signal to send to these probes (counted from 1) at this time after the start. */
interface Moment {
  readonly atMs: number;
  readonly signal: 'ALRM' | 'KILL';
  readonly ids: readonly number[];
}

interface ProbeTiming {
  readonly moments: readonly Moment[];
  /** Milliseconds from ALRM to KILL, and between the interruptions of a wait, two units after the last KILL. */
  readonly unitMs: number;
}

/** Units after the last KILL: two until probes blocked by the kernel are abandoned, one for a second interruption. */
const unitsAfterKill = 3;
/** Units after the deadline: one more than `unitsAfterKill` from ALRM to KILL, and one for a slow node's frames. */
const unitsAfterDeadline = unitsAfterKill + 2;
/** Maximum number of interruptions of a wait. Two are needed; the others cover lost races. */
const ticks = 20;

const coarseFromMs = 4_000;
const atLeastMs = 500;

/** Rounds down to tenths of a second, the shortest unit; macOS's sleep(1) accepts fractions. */
const tenths = (ms: number): number => Math.floor(ms / 100) * 100;

/** Computes the timetable in whole seconds, with one second per unit, both shortened if the budget is too small. */
export function probeTiming({ probes, budgetMs }: TimingRequest): ProbeTiming {
  const step = budgetMs !== undefined && budgetMs < coarseFromMs ? 500 : 1_000;
  const budget =
    budgetMs === undefined ? Number.POSITIVE_INFINITY : Math.max(atLeastMs, Math.floor(budgetMs / step) * step);
  const unitMs = Math.max(100, Math.min(graceSeconds * 1_000, tenths(budget / 20)));
  const latest = Math.max(100, budget - unitsAfterDeadline * unitMs);
  const deadlines = probes.map((probe) => Math.min(Math.max(1, Math.ceil(probe.deadlineMs / 1_000)) * 1_000, latest));
  const moments = [...new Set(deadlines)].flatMap((atMs): Moment[] => {
    const ids = deadlines.flatMap((other, at) => (other === atMs ? [at + 1] : []));
    return [
      { atMs, signal: 'ALRM', ids },
      { atMs: atMs + unitMs, signal: 'KILL', ids },
    ];
  });
  return { moments: moments.sort((a, b) => a.atMs - b.atMs), unitMs };
}

/** The maximum duration of an observation in ms. With a round trip more, a controller never cuts off an answer. */
export function observationCeilingMs(request: TimingRequest): number {
  const { unitMs, moments } = probeTiming(request);
  return (moments.at(-1)?.atMs ?? 0) + unitsAfterKill * unitMs;
}

/** The request of one observation. `boundary` is 32 lower-case hexadecimal digits, new for every observation. */
interface ObserveRequest extends TimingRequest {
  readonly boundary: string;
  /** Empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
}

/** `ulimit -f` counts 512 bytes in POSIX mode, but 1,024 in bash 3.2, where files may be twice as large. */
const ulimitBlockBytes = 512;

/**
 * The script for `/bin/sh`.
 *
 * @throws Error if the boundary is not 32 hexadecimal digits, or the prefix is neither empty nor absolute
 */
export function observeScript(request: ObserveRequest): string {
  if (!/^[0-9a-f]{32}$/.test(request.boundary)) throw new Error('a frame boundary is 32 lower-case hex digits');
  return [
    rootLine(request.rootPrefix),
    `T=${request.boundary}`,
    prologue,
    ...launches(request.probes),
    watchdog(probeTiming(request)),
    epilogue(request.probes),
    '',
  ].join('\n');
}

/** The observation as a command line for exec, which the login shell only passes on. */
export const observeCommand = (request: ObserveRequest): string => shellCommand(observeScript(request));

/** Upper limit in bytes of the output if every probe fills its files. */
export const observationMaxBytes = (probes: readonly Probe[]): number =>
  probes.reduce((sum, probe) => sum + 2 * (2 * (probe.maxBytes + ulimitBlockBytes) + 512), 4096);

/**
 * `a PID` tests whether a process is still a child of this shell, because its pid may belong to a different process by
 * now. `k SIGNAL PID` signals only a child of this shell. `w PID` sets c to a probe's exit, or to `stuck` if the
 * watchdog interrupted the wait twice (a single interruption may coincide with the exit; 138 and 158 are 128 + USR1 on
 * Linux and macOS). After the first stuck probe, `w` does not wait for others, because all have received KILL. `u
 * BLOCKS` limits the files of the next probes; `r COMMAND` starts a probe.
 */
const prologue = `O=$PATH
export R O LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 077
ulimit -c 0 2>/dev/null
d='' g='' t='' P='' S='' i=0
u() {
  ulimit -S -f "$1" 2>/dev/null
}
r() {
  i=$((i + 1))
  "$@" </dev/null >"$i.o" 2>"$i.e" &
  eval "p$i=$!"
  P="$P$! "
}
a() {
  kill -0 "$1" 2>/dev/null || return 1
  set -- "$1" $(${pathWord(tool.ps)} -o ppid= -p "$1" 2>/dev/null)
  [ "$2" = "$$" ]
}
k() {
  a "$2" && kill -s "$1" "$2" 2>/dev/null
}
w() {
  n=0
  if [ -n "$S" ] && a "$1"; then
    c=stuck
    return 0
  fi
  while :; do
    t=''
    wait "$1"
    c=$?
    [ -n "$t" ] || return 0
    case $c in (138|158) ;; (*) return 0 ;; esac
    n=$((n + 1))
    [ "$n" -lt 2 ] || break
  done
  c=stuck S=1
}
q() {
  trap '' HUP INT TERM PIPE USR1
  [ -z "$g" ] || kill -s ALRM "$g" 2>/dev/null
  if [ -n "$P" ]; then
    for p in $P; do k ALRM "$p"; done
    ${pathWord(tool.sleep)} ${graceSeconds}
    for p in $P; do k KILL "$p"; done
  fi
  [ -z "$d" ] || ${pathWord(tool.rm)} -rf "$d"
  exit "$1"
}
trap 'q 129' HUP
trap 'q 130' INT
trap 'q 143' TERM
trap 'q 141' PIPE
trap 't=1' USR1
if ! d=$(${pathWord(tool.mktemp)} -d ${pathWord(below(place.temporary, 'meshwright.XXXXXX'))}) || ! cd "$d"; then
  d=''
  printf '\\n%s nowhere\\n' "$T"
  exit 1
fi
case $d in ("$R${place.temporary.path}/meshwright."*) ;; (*) d='' && exit 1 ;; esac`;

function launches(probes: readonly Probe[]): readonly string[] {
  const lines: string[] = [];
  let blocks = 0;
  for (const probe of probes) {
    const wanted = Math.floor(probe.maxBytes / ulimitBlockBytes) + 1;
    if (wanted !== blocks) lines.push(`u ${wanted}`);
    blocks = wanted;
    lines.push(`r ${scriptCommand(probe.ask)}`);
  }
  return [...lines, 'u unlimited'];
}

const seconds = (ms: number): string => String(ms / 1_000);

/**
 * The watchdog, a single process for all deadlines. It has its own streams, so that it never keeps the ssh channel
 * open. ALRM stops the watchdog and its sleep. The sleep gets KILL, because before its exec it would lose any signal
 * that its parent traps. After all deadlines, the watchdog interrupts the main shell's `wait` repeatedly, so that a
 * probe that survives KILL cannot block the other answers. If the main shell was killed, the watchdog removes the
 * folder.
 */
function watchdog({ moments, unitMs }: ProbeTiming): string {
  const lines: string[] = [];
  let now = 0;
  for (const { atMs, signal, ids } of moments) {
    if (atMs > now) lines.push(`  z ${seconds(atMs - now)}`);
    now = atMs;
    lines.push(`  for i in ${ids.join(' ')}; do l ${signal}; done`);
  }
  return `(
  s='' h=''
  trap 'h=1; [ -z "$s" ] || kill -s KILL "$s"' ALRM HUP TERM
  z() {
    [ -z "$h" ] || exit 0
    ${pathWord(tool.sleep)} "$1" &
    s=$!
    [ -z "$h" ] || kill -s KILL "$s"
    wait "$s"
    [ -z "$h" ] || { wait "$s"; exit 0; }
    s=''
  }
  l() {
    eval p=\\$p$i
    a "$p" || return 0
    true >"$i.l"
    kill -s "$1" "$p"
  }
${lines.join('\n')}
  z ${seconds(2 * unitMs)}
  n=0
  while [ "$n" -lt ${ticks} ] && kill -s USR1 "$$"; do
    n=$((n + 1))
    z ${seconds(unitMs)}
  done
  kill -0 "$$" || ${pathWord(tool.rm)} -rf "$d"
) </dev/null >/dev/null 2>&1 &
g=$!`;
}

/**
 * Waits for every probe, stops the watchdog and prints the frames: one line per probe, the sizes from wc, and all
 * files, each below a separator. frames.ts parses them.
 */
function epilogue(probes: readonly Probe[]): string {
  const ids = probes.map((_, at) => at + 1);
  const sized = ids.map((id) => `${id}.o ${id}.e`).join(' ');
  const printed = ids.map((id) => `${id}.a ${id}.o ${id}.b ${id}.e`).join(' ');
  return `for i in ${ids.join(' ')}; do
  eval w \\$p$i
  eval c$i=\\$c
  P=\${P#* }
done
P=''
kill -s ALRM "$g" 2>/dev/null
wait "$g" 2>/dev/null
g=''
printf '\\n%s begin 1 ${ids.length}\\n' "$T"
for i in ${ids.join(' ')}; do
  eval c=\\$c$i
  l=0
  [ ! -e "$i.l" ] || l=1
  printf '%s %s %s %s\\n' "$T" "$i" "$c" "$l"
  printf '\\n%s %s out\\n' "$T" "$i" >"$i.a"
  printf '\\n%s %s err\\n' "$T" "$i" >"$i.b"
done
printf '%s sizes\\n' "$T"
${pathWord(tool.wc)} -c ${sized}
printf '\\n%s end\\n' "$T" >z
${pathWord(tool.cat)} ${printed} z
q 0`;
}
