/**
 * The one script that carries every probe of an observation.
 *
 * It runs under dash and under bash 3.2 as Apple ships it (`/bin/sh`), with stock tools by absolute path. Its only
 * write is one private folder, gone when the script ends. Processes on the node: one per probe, and six in all for
 * mktemp, the watchdog, the watchdog's sleep, wc, cat and rm.
 */
import type { Probe } from '../model/probe.ts';
import { below, pathWord, place, rootLine, scriptCommand, shellCommand, tool } from './node-paths.ts';

/** What one observation asks. `token` is 32 lower-case hex digits, fresh for every observation. */
export interface ObserveRequest {
  readonly probes: readonly Probe[];
  readonly token: string;
  /** Empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
}

/**
 * A probe at its deadline gets ALRM and, this much later, KILL. It is ALRM, and not TERM, because the main shell has a
 * trap for TERM: a child that has been forked and has not yet put back its parent's signals would lose a TERM (dash),
 * or run the trap as if it were the main shell (bash). For the same reason there is no trap on EXIT: with one, bash
 * catches every signal that ends a process, and such a child removes the folder of the others (seen in 1 of 20 runs).
 */
const graceSeconds = 1;
/** After the last KILL, probes that still live are given up (a process stuck in the kernel cannot be killed). */
const giveUpSeconds = 2;
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
    watchdog(request.probes),
    epilogue(request.probes),
    '',
  ].join('\n');
}

/** The observation as the command line of an exec request; the login shell only hands it on. */
export const observeCommand = (request: ObserveRequest): string => shellCommand(observeScript(request));

/**
 * How long an observation can last on a node whose tools all hang, in milliseconds: the last deadline, the grace, and
 * two ticks of one second for each probe that even KILL does not end. A controller that waits this long and a
 * round trip more never cuts off an answer.
 */
export function observationCeilingMs(probes: readonly Probe[]): number {
  const last = Math.max(0, ...probes.map(deadlineSeconds));
  return (last + graceSeconds + giveUpSeconds + stuckTicks(probes)) * 1000;
}

/** The most bytes that an observation can print when every probe fills its files; a cap for the controller. */
export const observationMaxBytes = (probes: readonly Probe[]): number =>
  probes.reduce((sum, probe) => sum + 2 * (2 * (probe.maxBytes + ulimitBlockBytes) + 512), 4096);

/**
 * `k SIGNAL PID` signals a process only while it is still a child of this shell: its pid may belong to somebody else
 * by now. `w PID` sets c to the exit of a probe, or to `stuck` when the watchdog interrupted the wait twice (once may
 * be the moment in which it ended; 138 and 158 are 128 + USR1 on Linux and macOS).
 */
const prologue = `export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 077
ulimit -c 0 2>/dev/null
d='' g='' t='' P=''
k() {
  kill -0 "$2" 2>/dev/null || return 0
  set -- "$1" "$2" $(${pathWord(tool.ps)} -o ppid= -p "$2" 2>/dev/null)
  [ "$3" = "$$" ] && kill -s "$1" "$2" 2>/dev/null
}
w() {
  n=0
  while :; do
    t=''
    wait "$1"
    c=$?
    [ -n "$t" ] || return 0
    case $c in (138|158) ;; (*) return 0 ;; esac
    n=$((n + 1))
    [ "$n" -lt 2 ] || break
  done
  c=stuck
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
  probes.forEach((probe, at) => {
    const wanted = Math.floor(probe.maxBytes / ulimitBlockBytes) + 1;
    if (wanted !== blocks) lines.push(`ulimit -S -f ${wanted} 2>/dev/null`);
    blocks = wanted;
    const id = at + 1;
    lines.push(`${scriptCommand(probe.ask)} </dev/null >${id}.o 2>${id}.e &`, `p${id}=$! P="$P$! "`);
  });
  return [...lines, 'ulimit -S -f unlimited 2>/dev/null'];
}

/** One moment of the watchdog: at this second since the start, this signal to these probes (counted from 1). */
interface Moment {
  readonly second: number;
  readonly signal: 'ALRM' | 'KILL';
  readonly ids: readonly number[];
}

const deadlineSeconds = (probe: Probe): number => Math.max(1, Math.ceil(probe.deadlineMs / 1000));

/** Enough for every probe to be interrupted twice, and some for a lost race. */
const stuckTicks = (probes: readonly Probe[]): number => 2 * probes.length + 5;

function moments(probes: readonly Probe[]): readonly Moment[] {
  const classes = [...new Set(probes.map(deadlineSeconds))];
  const both = classes.flatMap((second): Moment[] => {
    const ids = probes.flatMap((probe, at) => (deadlineSeconds(probe) === second ? [at + 1] : []));
    return [
      { second, signal: 'ALRM', ids },
      { second: second + graceSeconds, signal: 'KILL', ids },
    ];
  });
  return both.sort((a, b) => a.second - b.second);
}

/**
 * One process for all deadlines. Its streams are its own, so that it never keeps the ssh channel open. ALRM ends it and
 * its sleep: by KILL, since the sleep may not have been started yet and would lose any signal that its parent traps.
 * When all deadlines have passed it interrupts a `wait` of the main shell again and again, so that a probe which not
 * even KILL ends cannot hold back the others' answers; if the main shell was itself killed, it removes the folder.
 */
function watchdog(probes: readonly Probe[]): string {
  const lines: string[] = [];
  let now = 0;
  for (const { second, signal, ids } of moments(probes)) {
    if (second > now) lines.push(`  z ${second - now}`);
    now = second;
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
    kill -0 "$p" || return 0
    set -- "$1" "$p" $(${pathWord(tool.ps)} -o ppid= -p "$p")
    [ "$3" = "$$" ] || return 0
    true >"$i.l"
    kill -s "$1" "$2"
  }
${lines.join('\n')}
  z ${giveUpSeconds}
  n=0
  while [ "$n" -lt ${stuckTicks(probes)} ] && kill -s USR1 "$$"; do
    n=$((n + 1))
    z 1
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
