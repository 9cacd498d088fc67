/**
 * The one script that carries every probe of an observation.
 *
 * It runs under dash and under bash 3.2 as Apple ships it (`/bin/sh`), with stock tools by absolute path. Its only
 * write is one private folder, gone when the script ends. Processes on the node: one per probe, and six in all for
 * mktemp, the watchdog, the watchdog's sleep, wc, cat and rm.
 */
import type { Probe } from '../model/probe.ts';
import { below, pathWord, place, rootLine, scriptCommand, shellCommand, tool } from './paths/node-paths.ts';

/**
 * A probe at its deadline gets ALRM and, this much later, KILL. It is ALRM, and not TERM, because the main shell has a
 * trap for TERM: a child that has been forked and has not yet put back its parent's signals would lose a TERM (dash),
 * or run the trap as if it were the main shell (bash). For the same reason there is no trap on EXIT: with one, bash
 * catches every signal that ends a process, and such a child removes the folder of the others (seen in 1 of 20 runs).
 */
const graceSeconds = 1;
/** What is timed: probes with their own deadlines, and how long all of them together may take. */
interface TimingRequest {
  readonly probes: readonly Probe[];
  /**
   * When all frames have been printed, in milliseconds from the start, whatever hangs: probes with later deadlines
   * end earlier. Counted in whole seconds from 4 s on and in half seconds below, so that the few milliseconds by which
   * two connections differ change no byte. Without it every probe has its own deadline.
   */
  readonly budgetMs?: number;
}

/** One moment of the watchdog: so long after the start, this signal to these probes (counted from 1). */
interface Moment {
  readonly atMs: number;
  readonly signal: 'ALRM' | 'KILL';
  readonly ids: readonly number[];
}

/** When what is done to probes that do not end. */
interface ProbeTiming {
  readonly moments: readonly Moment[];
  /** From ALRM to KILL, and between two interruptions of the wait; half of the time from the last KILL to the first. */
  readonly unitMs: number;
}

/** After the last KILL: two until probes that still live are given up (the kernel may hold them), one for the second tick. */
const unitsAfterKill = 3;
/** KILL comes one unit after ALRM; and one more for a slow node to start what it is asked and to print the frames. */
const unitsAfterDeadline = unitsAfterKill + 2;
/** How often the watchdog interrupts a wait at most: two ticks are needed, the others are for a lost race. */
const ticks = 20;

const coarseFromMs = 4_000;
const atLeastMs = 500;

/** A tenth of a second is the shortest that is counted: sleep(1) of macOS takes fractions. */
const tenths = (ms: number): number => Math.floor(ms / 100) * 100;

/** Deadlines in whole seconds and units of one, unless the budget is too small for them: then both shrink with it. */
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

/**
 * How long an observation can last on a node whose tools all hang, in milliseconds. A controller that waits this long
 * and a round trip more never cuts off an answer.
 */
export function observationCeilingMs(request: TimingRequest): number {
  const { unitMs, moments } = probeTiming(request);
  return (moments.at(-1)?.atMs ?? 0) + unitsAfterKill * unitMs;
}

/** What one observation asks. `token` is 32 lower-case hex digits, fresh for every observation. */
interface ObserveRequest extends TimingRequest {
  readonly token: string;
  /** Empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
}

/** `ulimit -f` counts blocks of 512 bytes in POSIX mode; bash 3.2 takes 1,024, so a file may be twice as long there. */
const ulimitBlockBytes = 512;

/**
 * The script as text for `/bin/sh`.
 *
 * @throws Error when the token is not 32 hex digits or the prefix is not empty or absolute: both are our own values.
 */
export function observeScript(request: ObserveRequest): string {
  if (!/^[0-9a-f]{32}$/.test(request.token)) throw new Error('a frame token is 32 lower-case hex digits');
  return [
    rootLine(request.rootPrefix),
    `T=${request.token}`,
    prologue,
    ...launches(request.probes),
    watchdog(probeTiming(request)),
    epilogue(request.probes),
    '',
  ].join('\n');
}

/** The observation as the command line of an exec request; the login shell only hands it on. */
export const observeCommand = (request: ObserveRequest): string => shellCommand(observeScript(request));

/** The most bytes that an observation can print when every probe fills its files; a cap for the controller. */
export const observationMaxBytes = (probes: readonly Probe[]): number =>
  probes.reduce((sum, probe) => sum + 2 * (2 * (probe.maxBytes + ulimitBlockBytes) + 512), 4096);

/**
 * `a PID` says whether a process is still a child of this shell: its pid may belong to a different process by now.
 * `k SIGNAL PID` signals only such a one. `w PID` sets c to the exit of a probe, or to `stuck` when the watchdog
 * interrupted the wait twice (once may be the moment in which it ended; 138 and 158 are 128 + USR1 on Linux and
 * macOS). After the first stuck one it waits for no other, since then all have had their KILL. `u BLOCKS`
 * bounds the files of what is started next; `r COMMAND` starts the next probe.
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

/** Each probe in the background with its own files. The size limit follows the probe that comes next. */
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
 * One process for all deadlines. Its streams are its own, so that it never keeps the ssh channel open. ALRM ends it and
 * its sleep: by KILL, since the sleep may not have been started yet and would lose any signal that its parent traps.
 * When all deadlines have passed it interrupts a `wait` of the main shell again and again, so that a probe which not
 * even KILL ends cannot hold back the others' answers; if the main shell was itself killed, it removes the folder.
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
 * Waits for every probe, ends the watchdog, prints the frames: a line per probe, the sizes as wc prints them, and
 * all files after one another, each below its own separator. See frames.ts, which reads them.
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
