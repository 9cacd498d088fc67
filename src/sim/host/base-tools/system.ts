import { apple, published } from '../../commands/source.ts';
import { markVariable } from '../exec-environment.ts';
import { type BaseTool, shellQuote } from './wrapper.ts';

const manual = (name: string) => apple(`${name}(1) of macOS`);

/** Set by the simulated sudo for what it runs; `id` and `whoami` look at it. */
export const rootMarkVariable = 'MW_SIM_SUDO';

/** Kept by the sudoers file of macOS (`env_keep`); everything else the caller exported is gone under sudo. */
const keptBySudo = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TERM'];

const sudoBody = (user: string): string => `w=; read -r w <"$R/.sim/sudo"
n=
while [ $# -gt 0 ]; do
  case $1 in
    (-n) n=1; shift ;;
    (-u) [ "\${2-}" = root ] || refused "unknown user $2"; shift 2 ;;
    (--) shift; break ;;
    (-*) refused "invalid option -- '\${1#-}'" ;;
    (*) break ;;
  esac
done
[ $# -gt 0 ] || refused ''
if [ -z "$n" ] && [ "$w" != allowed ]; then
  printf '%s\\n' "/usr/bin/sudo $l" >>"$R/.sim/unknown"
  echo 'sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper' >&2
  echo 'sudo: a password is required' >&2
  exit 1
fi
case $w in
  (allowed) ;;
  (denied)
    echo ${shellQuote(`${user} is not in the sudoers file.`)} >&2
    echo 'This incident has been reported to the administrator.' >&2
    exit 1 ;;
  (*) echo 'sudo: a password is required' >&2; exit 1 ;;
esac
starts "$@"
exec /usr/bin/env -i ${keptBySudo.map((name) => `\${${name}+${name}="$${name}"}`).join(' ')} PATH="$PATH" HOME="$HOME" \\
  SHELL="$R/bin/sh" USER=root LOGNAME=root SUDO_USER=${user} ${markVariable}="$${markVariable}" ${rootMarkVariable}=1 "$@"`;

const idBody = (user: string): string => `u=501 n=${user} g=20 m=staff
[ -z "$${rootMarkVariable}" ] || { u=0 n=root g=0 m=wheel; }
case $* in
  ('') printf 'uid=%s(%s) gid=%s(%s) groups=%s(%s),12(everyone),61(localaccounts),80(admin)\\n' $u $n $g $m $g $m ;;
  (-u) echo $u ;; (-un | -nu | '-u -n') echo $n ;; (-g) echo $g ;; (-gn | -ng) echo $m ;;
  (*) refused 'illegal option' ;;
esac`;

const dateBody = (host: string, isBsd: boolean): string => `u= r= f=
while [ $# -gt 0 ]; do
  case $1 in
    (-u) u=-u ;;
    (-r) r=\${2-}; shift; case $r in ('' | *[!0-9]*) refused "illegal time format" ;; esac ;;
    (+*%[NQ-]* | +*%[0-9]*) refused "a format that only GNU knows: $1" ;;
    (+*) f=$1 ;;
    (*) refused "illegal option -- \${1#-}" ;;
  esac
  shift
done
w=0; read -r w <"$R/.sim/clock-offset"
case $r:$f in
  (:+%s) n=$(${shellQuote(host)} +%s) && echo $((n + w)); exit ;;
  (:*) n=$(${shellQuote(host)} +%s); r=$((n + w)) ;;
esac
exec ${shellQuote(host)} $u ${isBsd ? '-r "$r"' : '-d "@$r"'} "\${f:-+%a %b %e %T %Z %Y}"`;

/** Words of `ps -o` that print the same on both systems. */
const psKeywords = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'etime', 'command', 'args', 'rss', 'vsz', 'uid'];

/** All processes of the node: those that carry its mark. Without /proc (a Mac below) ps itself shows the mark. */
const psAll = (host: string, isBsd: boolean): string =>
  isBsd
    ? `set -- $(${shellQuote(host)} -axwwE -o pid=,command= | while read -r p c; do
  case $c in (*"${markVariable}=$${markVariable}"*) printf '%s,' "$p" ;; esac
done)`
    : `set -- $(for p in $(grep -lasF "${markVariable}=$${markVariable}" /proc/[0-9]*/environ 2>/dev/null); do
  p=\${p#/proc/}; printf '%s,' "\${p%/environ}"
done)`;

const psBody = (host: string, isBsd: boolean): string => `a= p= k=
while getopts ':aAexwo:p:' o; do
  case $o in
    (a | A | e | x) a=1 ;;
    (w) ;;
    (o) k=\${k:+$k,}$OPTARG ;;
    (p) p=$OPTARG; case $p in (*[!0-9,]*) refused "Invalid process id: $p" ;; esac ;;
    (*) refused "illegal option -- $OPTARG" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] && [ -n "$a$p" ] && [ -n "$k" ] || refused 'illegal argument'
(IFS=,; set -f; for o in $k; do
  case \${o%=} in (${psKeywords.join(' | ')}) ;; (*) exit 1 ;; esac
done) || refused "$k: keyword not found"
[ -n "$p" ] || { ${psAll(host, isBsd)}
p=\${1%,}; }
[ -n "$p" ] || exit 1
exec ${shellQuote(host)} -ww -o "$k" -p "$p"`;

const killBody = `case \${1-} in
  (-s) case \${2-} in (HUP | INT | QUIT | KILL | TERM | STOP | CONT | USR1 | USR2) ;; (*) refused "unknown signal $2" ;; esac
    s=$2; shift 2 ;;
  (-0 | -1 | -2 | -9 | -15 | -HUP | -INT | -QUIT | -KILL | -TERM | -STOP | -CONT | -USR1 | -USR2) s=\${1#-}; shift ;;
  (-*) refused "unknown signal \${1#-}" ;;
  (*) s=TERM ;;
esac
[ "\${1-}" != -- ] || shift
[ $# -gt 0 ] || refused ''
for o; do case \${o#-} in ('' | 0 | 1 | *[!0-9]*) refused "illegal process id: $o" ;; esac; done
kill -s "$s" -- "$@"`;

const usageOf = (text: string, code: number) => ({ text, code });

/** Tools about the user, the clock and processes. */
export const systemTools: readonly BaseTool[] = [
  {
    path: '/usr/bin/sudo',
    source: published('sudo(8) 1.9 as macOS ships it; answers by the word in /.sim/sudo'),
    forms: '-n [-u root] [--] command ...',
    host: 'none',
    usage: usageOf(
      'usage: sudo -h | -K | -k | -V\nusage: sudo [-ABbEHnPS] [-u user] [VAR=value] [-i | -s] [command [arg ...]]',
      1,
    ),
    body: ({ user }) => sudoBody(user),
  },
  {
    path: '/usr/bin/id',
    source: manual('id'),
    forms: 'no argument, -u, -un, -g, -gn',
    host: 'none',
    usage: usageOf(
      'usage: id [user]\n       id -G [-n] [user]\n       id -g [-nr] [user]\n       id -u [-nr] [user]',
      1,
    ),
    body: ({ user }) => idBody(user),
  },
  {
    path: '/usr/bin/whoami',
    source: manual('whoami'),
    forms: 'no argument',
    host: 'none',
    usage: usageOf('usage: whoami', 1),
    body: ({ user }) => `[ $# -eq 0 ] || refused ''\n[ -z "$${rootMarkVariable}" ] && echo ${user} || echo root`,
  },
  {
    path: '/bin/date',
    source: manual('date'),
    forms: '[-u] [-r seconds] [+format]; the clock of the node runs ahead by /.sim/clock-offset',
    usage: usageOf(
      'usage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-f input_fmt]\n            [ -z output_zone ] [-r filename|seconds] [-v[+|-]val[y|m|w|d|H|M|S]]\n            [[[[mm]dd]HH]MM[[cc]yy][.SS] | new_date] [+output_fmt]',
      1,
    ),
    body: ({ host, isBsd }) => dateBody(host, isBsd),
  },
  {
    path: '/bin/ps',
    source: manual('ps'),
    forms: `[-ax | -A] [-ww] -o list [-p pid,...], list of ${psKeywords.join(' ')}; without -p the processes of the node`,
    usage: usageOf(
      'usage: ps [-AaCcEefhjlMmrSTvwXx] [-O fmt | -o fmt] [-G gid[,gid...]]\n          [-g grp[,grp...]] [-u [uid,uid...]]\n          [-p pid[,pid...]] [-t tty[,tty...]] [-U user[,user...]]\n       ps [-L]',
      1,
    ),
    body: ({ host, isBsd }) => psBody(host, isBsd),
  },
  {
    path: '/bin/kill',
    source: manual('kill'),
    forms: '[-s NAME | -NAME | -0 -1 -2 -9 -15] [--] pid ... or -group; never 0, 1 or -1',
    host: 'none',
    usage: usageOf(
      'usage: kill [-s signal_name] pid ...\n       kill -l [exit_status]\n       kill -signal_name pid ...',
      1,
    ),
    body: () => killBody,
  },
];
