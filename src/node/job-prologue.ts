import { pathWord, tool } from './paths/node-paths.ts';
import { sh } from './shell/scripts.generated.ts';

/**
 * The beginning of every job, whose own folder `d` is that of its file `run`. `failed SLUG TEXT` and `end EXIT` are the
 * only ways out; the exit is written by a rename, so that it is there whole or not at all. `progress DONE TOTAL` counts
 * bytes. The first line that runs links the number of the process to `pid`, which fails while another copy is there.
 */
export const jobPrologue = `export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
trap '' HUP PIPE
d=\${0%/run}
case $d in (/*) ;; (*) exit 1 ;; esac
N='
'
put() {
  printf '%s\\n' "$2" >"$d/$1.$$" && ${pathWord(tool.mv)} -f "$d/$1.$$" "$d/$1"
}
end() {
  put rc "$1"
  exit "$1"
}
failed() {
  m=$1
  case $2 in (*'No space left on device'*) m=disk-full ;; esac
  put failure "$m \${2%%"$N"*}"
  end 1
}
${sh.must({})}
progress() {
  put progress "$1 $2"
}
printf '%s\\n' "$$" >"$d/pid.$$" && ${pathWord(tool.ln)} "$d/pid.$$" "$d/pid" 2>/dev/null
x=$?
${pathWord(tool.rm)} -f "$d/pid.$$"
[ "$x" -eq 0 ] || exit 0`;
