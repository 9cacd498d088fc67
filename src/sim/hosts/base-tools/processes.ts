import { shellQuote } from '../../model/node-files.ts';
import { processesPath } from '../../model/rdma.ts';
import { from } from '../../tools/tool.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { checkOptions, passOptions, type ToolRow, type WrapperContext } from './wrapper.ts';

/** Keywords for `ps -o` with the same output on both systems. */
const psKeywords = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'etime', 'command', 'args', 'ucomm', 'rss', 'vsz', 'uid'];

/**
 * Creates a comma-separated list of the processes with the mark of the node's current boot session, from their
 * environment files. It compares whole entries, because the mark of one boot can be a prefix of another boot's mark.
 */
const ofNode = `set -- $(for p in $(command -p grep -lasxzF "${markVariable}=$${markVariable}" /proc/[0-9]*/environ 2>/dev/null); do
  p=\${p#/proc/}; printf '%s,' "\${p%/environ}"
done)`;

/**
 * sh function that tests whether a process has the node's mark. If the host is a Mac, it hides the environment of its
 * own programs. On Linux, the environment is briefly empty while a process starts a new program, so the function reads
 * it again. Each read tests for both the mark and an empty environment, because the environment can change between two
 * reads.
 */
const ownFunction = ({ isBsd, programs }: WrapperContext): string => {
  if (programs !== undefined) return 'own() { [ -d "/proc/$1" ]; }';
  return isBsd
    ? 'own() { :; }'
    : `n='
'
own() {
  for t in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -r "/proc/$1/environ" ] || return 1
    v=$(command -p tr '\\n\\0' ' \\n' 2>/dev/null <"/proc/$1/environ")
    case "$n$v$n" in
      (*"$n${markVariable}=$${markVariable}$n"*) return 0 ;;
      (*[!"$n"]*) return 1 ;;
    esac
    { read -r y <"/proc/$1/stat"; } 2>/dev/null || return 1
    case \${y##*) } in (Z* | X*) return 1 ;; esac
    command -p sleep 0.02
  done
  return 1
}`;
};

/** Lists all processes of the node by their mark. Without /proc (if the host is a Mac), ps itself shows the mark. */
function psAll({ host, isBsd, programs }: WrapperContext): string {
  if (programs !== undefined) return `set -- $(cd /proc; for p in [0-9]*; do printf '%s,' "$p"; done)`;
  return isBsd
    ? `set -- $(${shellQuote(host)} -axwwE -o pid=,command= | while read -r p c; do
  case $c in (*"${markVariable}=$${markVariable}"*) printf '%s,' "$p" ;; esac
done)`
    : ofNode;
}

/** Prints the requested processes that exist only in the model; z is 0 if there are any, `w` the list after `-p`. */
const psOfModel = `z=1
if [ -r "$R${processesPath}" ]; then
  while read -r i g t n; do
    case ,\${w:-$i}, in (*",$i,"*) ;; (*) continue ;; esac
    x=$(IFS=' ,'; set -f; for o in $k; do
      case \${o%=} in (pid) v=$i ;; (ppid) v=1 ;; (pgid) v=$g ;; (stat) v=$t ;; (ucomm | command | args) v=$n ;; (*) v=- ;; esac
      printf ' %s' "$v"
    done)
    printf '%s\\n' "$x"
    z=0
  done <"$R${processesPath}"
fi`;

/**
 * Runs the ps of Linux and prints each process state as macOS does: `U` instead of `D`, `T` also for a traced process,
 * and no `l` for several threads. `i` is the column of the state, 0 if it is not asked for.
 */
const psAsOnMac = ({ host }: WrapperContext): string => `n=0 i=0 IFS=' ,'
for o in $k; do
  n=$((n + 1))
  case \${o%=} in (stat) i=$n ;; (lstart) n=$((n + 4)) ;; esac
done
[ "$i" != 0 ] || exec ${shellQuote(host)} -ww "$@" -p "$p"
x=$(${shellQuote(host)} -ww "$@" -p "$p")
z=$?
[ -z "$x" ] || printf '%s\\n' "$x" | command -p awk -v "i=$i" '{
  s = ""
  for (n = 1; match($0, /^ *[^ ]+/) && n < i; n++) {
    s = s substr($0, 1, RLENGTH)
    $0 = substr($0, RLENGTH + 1)
  }
  w = substr($0, 1, RLENGTH)
  sub(/D/, "U", w)
  sub(/t/, "T", w)
  sub(/l/, "", w)
  print s w substr($0, RLENGTH + 1)
}'
exit "$z"`;

const psBody = (context: WrapperContext): string => `a= p= k=
while getopts ':aAexwo:p:' o; do
  case $o in
    (a | A | e | x) a=1 ;;
    (w) ;;
    (o) k="\${k:+$k }$OPTARG" ;;
    (p) p=$OPTARG; case $p in (*[!0-9,]*) refused "Invalid process id: $p" ;; esac ;;
    (*) refused "illegal option -- $OPTARG" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] && [ -n "$a$p" ] && [ -n "$k" ] || refused 'illegal argument'
(IFS=' ,'; set -f; for o in $k; do
  case \${o%=} in (${psKeywords.join(' | ')}) ;; (*) exit 1 ;; esac
done) || refused "$k: keyword not found"
w=$p
${psOfModel}
if [ -n "$p" ]; then
  ${ownFunction(context)}
  q=$(IFS=,; for o in $p; do own "$o" && printf '%s,' "$o"; done)
  set -- "$q"
else
  ${psAll(context)}
fi
p=\${1-} p=\${p%,}
[ -n "$p" ] || exit "$z"
set -f
set --
for o in $k; do set -- "$@" -o "$o"; done
${context.isBsd ? `exec ${shellQuote(context.host)} -ww "$@" -p "$p"` : psAsOnMac(context)}`;

const killBody = (context: WrapperContext): string => `case \${1-} in
  (-s) case \${2-} in (HUP | INT | QUIT | KILL | TERM | STOP | CONT | USR1 | USR2) ;; (*) refused "unknown signal $2" ;; esac
    s=$2; shift 2 ;;
  (-0 | -1 | -2 | -9 | -15 | -HUP | -INT | -QUIT | -KILL | -TERM | -STOP | -CONT | -USR1 | -USR2) s=\${1#-}; shift ;;
  (-*) refused "unknown signal \${1#-}" ;;
  (*) s=TERM ;;
esac
[ "\${1-}" != -- ] || shift
[ $# -gt 0 ] || refused ''
${ownFunction(context)}
for o; do case \${o#-} in ('' | 0 | 1 | *[!0-9]*) refused "illegal process id: $o" ;; esac; done
z=0
m=
for o; do
  shift
  own "\${o#-}" &&
    { set -- "$@" "$o"; continue; }
  if [ -r "$R${processesPath}" ] && command -p grep -q "^$o " "$R${processesPath}"; then
    m="$m $o"
    continue
  fi
  printf 'kill: %s: No such process\\n' "$o" >&2
  z=1
done
[ "$#$m" != 0 ] || exit 1
case $s in (0) ;; (*) "$R/.sim/ask" "$PWD" note kill "$s" "$@" $m >/dev/null 2>&1 ;; esac
[ $# -gt 0 ] || exit "$z"
kill -s "$s" -- "$@" && exit "$z"`;

/**
 * Prints each open file of this machine among the operands, with its process, like lsof with the fields command, access
 * and name. The kernel's access flags are octal; their last digit is 0 for reading, 1 for writing, and 2 for both.
 *
 * @see proc(5): `/proc/PID/fd` and `/proc/PID/fdinfo`
 */
const listOpenFiles = `q= l='
'
for o; do l="$l$o
"; done
command -p find /proc/[0-9]*/fd -type l -printf '%p %l\\n' 2>/dev/null | {
  z=1
  while IFS= read -r x; do
    o=\${x#* }
    case $l in (*"
$o
"*) ;; (*) continue ;; esac
    p=\${x%% *} i=\${p##*/} p=\${p%/fd/*} f= n=
    { while read -r k v; do case $k in (flags:) f=$v ;; esac; done <"$p/fdinfo/$i"; read -r n <"$p/comm"; } 2>/dev/null
    case $f in ('') continue ;; (*1) a=w ;; (*2) a=u ;; (*) a=r ;; esac
    [ "$p" = "$q" ] || printf 'p%s\\nc%s\\n' "\${p#/proc/}" "$n"
    q=$p z=0
    printf 'f%s\\na%s\\nn%s\\n' "$i" "$a" "$o"
  done
  exit $z
}`;

export const processTools: readonly ToolRow[] = [
  {
    path: '/usr/sbin/lsof',
    source: from.apple('lsof(8) of macOS: "OUTPUT FOR OTHER PROGRAMS"'),
    forms: '-Fcan -- file ..., each file by its physical path',
    host: 'none',
    usage: 'usage: [-?abhlnNoOPRtUvVX] [-F f] [--] [names]',
    body: ({ isBsd }) => `[ $# -gt 2 ] && [ "$1 $2" = '-Fcan --' ] || refused 'only -Fcan -- file ... is supported'
shift 2
inside "$@"
${isBsd ? 'exec /usr/sbin/lsof -Fcan -- "$@"' : listOpenFiles}`,
  },
  {
    path: '/bin/sleep',
    forms: 'seconds, optionally with a fraction; no unit',
    usage: 'usage: sleep seconds',
    code: 64,
    body: ({ host }) =>
      `case $#:$1 in (1:*[!0-9.]* | 1:) refused '' ;; (1:*) exec ${shellQuote(host)} "$1" ;; esac\nrefused ''`,
  },
  {
    path: '/bin/echo',
    source: from.apple('echo(1) of macOS: -n, and no escapes'),
    forms: '[-n] [text ...]',
    host: 'none',
    usage: 'usage: echo [-n] [string ...]',
    body: () => `case \${1-} in (-n) shift; printf '%s' "$*" ;; (*) printf '%s\\n' "$*" ;; esac`,
  },
  {
    path: '/bin/test',
    forms: 'as in the shell',
    host: 'none',
    usage: 'usage: test expression',
    code: 2,
    body: () => 'test "$@"',
  },
  { path: '/usr/bin/true', forms: 'any', host: 'none', usage: 'usage: true', code: 0, body: () => 'exit 0' },
  { path: '/usr/bin/false', forms: 'any', host: 'none', usage: 'usage: false', body: () => 'exit 1' },
  {
    path: '/usr/bin/printf',
    forms: 'as in the shell',
    host: 'none',
    usage: 'usage: printf format [arguments ...]',
    body: () => '[ $# -gt 0 ] || refused \'\'\nprintf "$@"',
  },
  {
    path: '/usr/bin/env',
    forms: '[-i] [-u name] [name=value ...] [utility ...]',
    usage:
      'usage: env [-0iv] [-u name] [name=value ...]\n       env [-iv] [-P altpath] [-u name] [name=value ...] utility [argument ...]',
    body: ({ host }) => `bare=
${checkOptions('iu:', 'case $o:$OPTARG in (i:* | u:PATH) bare=1 ;; esac')}
after $((OPTIND - 1)) starts "$@"
exec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/nohup',
    forms: 'utility ...',
    usage: 'usage: nohup [--] utility [arguments]',
    code: 127,
    body: ({ host }) => `case \${1--} in (-*) refused '' ;; esac\nstarts "$@"\nexec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/basename',
    forms: 'string [suffix]',
    usage: 'usage: basename string [suffix]\n       basename [-a] [-s suffix] string [...]',
    body: passOptions('', "[ $# -le 2 ] || refused ''\n"),
  },
  { path: '/usr/bin/dirname', forms: 'string ...', usage: 'usage: dirname string [...]', body: passOptions('') },
  {
    path: '/bin/ps',
    forms: `[-ax | -A] [-ww] -o list [-p pid,...], list of ${psKeywords.join(' ')}; without -p all processes of the node`,
    usage:
      'usage: ps [-AaCcEefhjlMmrSTvwXx] [-O fmt | -o fmt] [-G gid[,gid...]]\n          [-g grp[,grp...]] [-u [uid,uid...]]\n          [-p pid[,pid...]] [-t tty[,tty...]] [-U user[,user...]]\n       ps [-L]',
    body: psBody,
  },
  {
    path: '/bin/kill',
    forms: '[-s NAME | -NAME | -0 -1 -2 -9 -15] [--] pid ... or -group; never 0, 1 or -1',
    host: 'none',
    usage: 'usage: kill [-s signal_name] pid ...\n       kill -l [exit_status]\n       kill -signal_name pid ...',
    body: killBody,
  },
];
