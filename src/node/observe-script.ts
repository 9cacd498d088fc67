/**
 * The one script that carries every probe of an observation.
 *
 * It runs under dash and under bash 3.2 as Apple ships it (`/bin/sh`), with stock tools by absolute path. Its only
 * write is one private folder, gone when the script ends. Processes on the node: one per probe, and six in all for
 * mktemp, the watchdog, the watchdog's sleep, wc, cat and rm.
 */
import type { Probe } from '../model/probe.ts';
import { below, pathWord, place, rootLine, scriptCommand, shellCommand, tool } from './paths/node-paths.ts';
import { graceSeconds, type ProbeTiming, probeTiming, type TimingRequest, ticks } from './probe-timing.ts';

/** What one observation asks. `token` is 32 lower-case hex digits, fresh for every observation. */
export interface ObserveRequest extends TimingRequest {
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
