import { pathWord, place, tool } from './paths/node-paths.ts';
import { rebootMarkFile, wiredBaselineFile } from './paths/own-paths.ts';

/**
 * What wired memory moves by without anybody's fault: a tenth of the baseline, and at least so many bytes.
 *
 * @see runtimes: restart procedure, step 5; the least is a guess, see docs/unverified.md
 */
const leastSlackBytes = 1_073_741_824;

/** The most bytes that may be wired where so many were before any rank ran. */
export const mostWiredBytes = (baselineBytes: number): number =>
  baselineBytes + Math.max(Math.floor(baselineBytes / 10), leastSlackBytes);

/** Looks, four in a second, until memory has fallen that the kernel gives back after the end of a process. */
const looksAtMemory = 20;

/**
 * The bytes that are wired: `Pages wired down:  1434855.` times `(page size of 16384 bytes)`.
 *
 * @see vm_stat(1)
 */
const wiredBytes = `match($0, /page size of [0-9]+ bytes/) { p = substr($0, RSTART + 13, RLENGTH - 19) }
/^Pages wired down: +[0-9]+[.]?$/ { n = $4 + 0; k = 1 }
END { if (k && p > 0) printf "%.0f\\n", n * p }`;

/**
 * `session` leaves the boot session in `u`; `marked` says whether a stop has found in it that only a restart of the Mac
 * helps, and why in `w`.
 */
export const rebootMarkFunctions = `session() {
  u=$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)
  [ -n "$u" ] || failed sysctl 'the boot session is not known'
}
marked() {
  x='' w=''
  [ -e ${pathWord(rebootMarkFile)} ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=\${y#*=} ;; (why=*) w=\${y#*=} ;; esac
  done <${pathWord(rebootMarkFile)}
  [ "$x" = "$u" ]
}`;

/** Prints the bytes that are wired, or nothing. */
export const printWired = `${pathWord(tool.vmStat)} 2>/dev/null | ${pathWord(tool.awk)} '${wiredBytes}'`;

/**
 * Ends a start on a Mac that needs a restart first. What a stop took for memory of its rank may have been that of another
 * program: it is measured again, and the mark goes when it has fallen. To come behind {@link wiredFunctions}.
 */
export const refuseMarked = `fallen() {
  baseline || return 1
  W=$(wired)
  slack
  [ -n "$W" ] && [ "$W" -le $((B + z)) ]
}
session
! marked || { [ "$w" = memory ] && fallen && ${pathWord(tool.rm)} -f ${pathWord(rebootMarkFile)}; } || failed needs-reboot "a rank that was stopped here left something that only a restart ends ($w)"`;

/**
 * `wired` prints the bytes that are wired, or nothing; `slack` leaves in `z` what they may differ by. `others` says whether a rank of another placement than that of
 * `$d` lives. `keep_wired` writes down what is wired before any rank ran in this boot session; where one ran before,
 * nobody knows what was its share, and there is no baseline.
 */
export const wiredFunctions = `wired() {
  ${printWired}
}
slack() {
  z=$((B / 10))
  [ "$z" -ge ${leastSlackBytes} ] || z=${leastSlackBytes}
}
others() {
  for f in "$b/placements/"*/process; do
    if [ ! -e "$f" ] || [ "$f" = "$d/process" ]; then continue; fi
    x='' q='' t=''
    while IFS= read -r y; do
      case $y in (boot=*) x=\${y#*=} ;; (pid=*) q=\${y#*=} ;; (start=*) t=\${y#*=} ;; esac
    done <"$f"
    case $x:$q in ("$u":[0-9]*) ;; (*) continue ;; esac
    [ "$(${pathWord(tool.ps)} -o lstart= -p "$q")" != "$t" ] || return 0
  done
  return 1
}
baseline() {
  x='' B=''
  [ -e ${pathWord(wiredBaselineFile)} ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=\${y#*=} ;; (wired=*) B=\${y#*=} ;; esac
  done <${pathWord(wiredBaselineFile)}
  [ "$x" = "$u" ] || return 1
  case $B in ('' | *[!0-9]*) return 1 ;; esac
}
keep_wired() {
  ! baseline || return 0
  for f in "$b/placements/"*/record; do
    [ -e "$f" ] || continue
    while IFS= read -r y; do
      case $y in ("startedIn=$u") return 0 ;; esac
    done <"$f"
  done
  W=$(wired)
  [ -n "$W" ] || return 0
  write ${pathWord(wiredBaselineFile)} "boot=$u\${N}wired=$W$N"
}`;

/**
 * `mark WHY` writes down that only a restart of this Mac helps, for the next plan. `judge_wired` leaves in `m` how the
 * wired memory is after the end of a rank: `normal`, `high`, or `unknown` with the reason.
 */
export const judgeWiredFunctions = `mark() {
  write ${pathWord(rebootMarkFile)} "boot=$u\${N}why=$1\${N}placement=\${d##*/}$N\${2-}"
}
judge_wired() {
  baseline || { m='unknown (nobody saw it before the first start of this boot session)'; return; }
  ! others || { m='unknown (another placement runs here)'; return; }
  slack
  n=0 m=normal
  while W=$(wired) && [ -n "$W" ] && [ "$W" -gt $((B + z)) ]; do
    n=$((n + 1))
    [ "$n" -lt ${looksAtMemory} ] || { m=high; return; }
    ${pathWord(tool.sleep)} 0.25
  done
  [ -n "$W" ] || m='unknown (vm_stat does not say it)'
}`;

/** More than a sample of one second takes, four looks in a second. */
const looksAtSample = 40;

/** Samples of how many starts of a placement are kept. */
const keptSamples = 4;

/**
 * `sample_of PID` writes down where the threads of a process are, before it is killed: `$f` is the file, and stays
 * empty where sample made none in time. Samples of much older starts are taken away.
 *
 * @see sample(1): `sample pid duration -file filename`
 */
export const sampleFunction = (placement: string): string => `sample_of() {
  g=''
  [ ! -e "$d/record" ] || while IFS= read -r y; do
    case $y in (generation=*) g=\${y#*=} ;; esac
  done <"$d/record"
  case $g in ('' | *[!0-9]*) g=0 ;; esac
  for f in "$b/log/sample-${placement}-"*.txt; do
    x=\${f##*/sample-${placement}-}
    x=\${x%.txt}
    case $x in ('' | *[!0-9]*) continue ;; esac
    [ "$x" -gt $((g - ${keptSamples})) ] || ${pathWord(tool.rm)} -f "$f"
  done
  ${pathWord(tool.mkdir)} -p ${pathWord(place.log)}
  f=$b/log/sample-${placement}-$g.txt
  ${pathWord(tool.rm)} -f "$f"
  ${pathWord(tool.sample)} "$1" 1 -file "$f" >/dev/null 2>&1 &
  q=$! n=0
  while kill -s 0 "$q" 2>/dev/null && [ "$n" -lt ${looksAtSample} ]; do
    n=$((n + 1))
    ${pathWord(tool.sleep)} 0.25
  done
  kill -s KILL "$q" 2>/dev/null
  wait "$q" 2>/dev/null
  [ -s "$f" ] || f=''
}`;
