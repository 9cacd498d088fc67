import { developerFolder } from '../../doubles/build-tools.ts';
import { accountsPath } from '../../model/directory.ts';
import { shellQuote } from '../../model/node-files.ts';
import { from } from '../../tools/tool.ts';
import {
  accountVariable,
  markVariable,
  rootMarkVariable,
  sudoRulesPath,
  verbsLibraryPath,
  verbsLibraryVariable,
} from '../ssh/ssh-user.ts';
import type { ToolRow, WrapperContext } from './wrapper.ts';

/** sh condition for root: the simulated sudo's mark or, on a node with its own users, the real user ID. */
const isRootTest = ({ programs }: WrapperContext): string =>
  programs === undefined ? `[ -n "$${rootMarkVariable}" ]` : `[ "$(${programs}/id -u)" = 0 ]`;

/** Sets `n` to the caller: `root`, a service's account, or the ssh user. */
const caller = (context: WrapperContext): string =>
  context.programs === undefined
    ? `n=\${${accountVariable}:-${context.user}}\n! ${isRootTest(context)} || n=root`
    : `n=$(${context.programs}/id -un)`;

const idBody = (context: WrapperContext): string => `${caller(context)}
case $#:$* in (2:-*) n=$2; set -- "$1" ;; ('2:-u -n') set -- -un ;; (1:[!-]*) n=$1; set -- ;; esac
u=
while read -r a b c m e; do
  [ "$a" != "$n" ] || { u=$b g=$c s=\${e:+ $e}; break; }
done <"$R${accountsPath}"
# An address may lead to a Mac of other people, which lets this one in all the same.
if [ -z "$u" ] && [ "$n" = ${context.user} ]; then u=501 g=20 m=staff s=' everyone localaccounts admin'; fi
if [ -z "$u" ]; then printf 'id: %s: no such user\\n' "$n" >&2; exit 1; fi
case $* in
  ('') x=
    case "$s " in (*' admin '*) x=',80(admin)' ;; esac
    printf 'uid=%s(%s) gid=%s(%s) groups=%s(%s),12(everyone),61(localaccounts)%s\\n' "$u" "$n" "$g" "$m" "$g" "$m" "$x" ;;
  (-u) echo "$u" ;; (-un | -nu) echo "$n" ;; (-g) echo "$g" ;; (-gn | -ng) echo "$m" ;; (-Gn | -nG) echo "$m$s" ;;
  (-G) x=$g
    for o in $s; do
      case $o in (everyone) x="$x 12" ;; (localaccounts) x="$x 61" ;; (admin) x="$x 80" ;; (*) refused "unknown group $o" ;; esac
    done
    echo "$x" ;;
  (*) refused 'illegal option' ;;
esac`;

const dateBody = (host: string, isBsd: boolean): string => `u= r= f=
while [ $# -gt 0 ]; do
  case $1 in
    (-u) u=-u ;;
    (-r) r=\${2-}; shift; case $r in ('' | *[!0-9]*) refused "illegal time format" ;; esac ;;
    (+*%[NQ-]* | +*%[0-9]*) refused "a format that only GNU supports: $1" ;;
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

/** macOS's sudoers file keeps these variables (`env_keep`); sudo removes all others of the caller. */
const sudoVariables = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TERM'];

/**
 * Sets `free` if a rule lets the account `$e` run `$c` without a password. Files with a dot in their name are ignored,
 * as with includedir. Only two forms of rules are simulated; others are recorded.
 */
const freeByRule = `free=
for f in "$R${sudoRulesPath}"/*; do
  case \${f##*/} in (*.* | *'~' | '*') continue ;; esac
  while IFS= read -r s || [ -n "$s" ]; do
    case $s in
      ('' | '#'*) ;;
      ("$e ALL=(root) NOPASSWD: ALL" | "$e ALL=(root) NOPASSWD: $c") free=free ;;
      (*' ALL=(root) NOPASSWD: ALL' | *' ALL=(root) NOPASSWD: /'*) ;;
      (*) printf '%s\\n' "/usr/bin/sudo a rule that is not simulated: $s" >>"$R/.sim/unknown" ;;
    esac
  done <"$f"
done`;

/** Reads the password byte by byte, as with `-S`, so that the rest of the input is left for the command. */
const readPassword = `IFS= read -r p <"$R/.sim/password"
t=0
while :; do
  if ! IFS= read -r v && [ -z "$v" ]; then
    printf '\\nsudo: no password was provided\\n' >&2
    case $t in
      (0) echo 'sudo: a password is required' >&2 ;;
      (1) echo 'sudo: 1 incorrect password attempt' >&2 ;;
      (*) echo "sudo: $t incorrect password attempts" >&2 ;;
    esac
    exit 1
  fi
  [ "$v" != "$p" ] || break
  t=$((t + 1))
  if [ "$t" = 3 ]; then echo 'sudo: 3 incorrect password attempts' >&2; exit 1; fi
  echo 'Sorry, try again.' >&2
done`;

const refuseDenied = (user: string): string => `echo ${shellQuote(`${user} is not in the sudoers file.`)} >&2
    echo 'This incident has been reported to the administrator.' >&2
    exit 1`;

/** `-l -n -U NAME` for root: members of admin have macOS's rule, and all accounts those in the rules folder. */
const listRules = `if ! [ -n "$${rootMarkVariable}" ]; then echo 'sudo: a password is required' >&2; exit 1; fi
s=
while read -r a b c e; do [ "$a" != "$4" ] || s=" $e "; done <"$R${accountsPath}"
if [ -z "$s" ]; then printf 'sudo: unknown user %s\\n' "$4" >&2; exit 1; fi
case $s in (*' admin '*) f='    (ALL) ALL' ;; (*) f= ;; esac
for x in "$R${sudoRulesPath}"/*; do
  case \${x##*/} in (*.* | *'~' | '*') continue ;; esac
  while IFS= read -r a || [ -n "$a" ]; do
    case $a in ("$4 ALL="*) f="\${f:+$f
}    \${a#*=}" ;; esac
  done <"$x"
done
if [ -z "$f" ]; then printf 'User %s is not allowed to run sudo on mac.\\n' "$4"
else printf 'User %s may run the following commands on mac:\\n%s\\n' "$4" "$f"; fi
exit 0`;

/** Sets the variable for sudo's command if the file `$d` exists. */
const verbsLibrary = `\${d:+${verbsLibraryVariable}="$d"}`;

/** `-u NAME` for root, who may use every account. */
const asAccount = `if [ -n "$a" ]; then
  [ -n "$${rootMarkVariable}" ] && [ -n "$H" ] || refused 'a different account needs root and -H'
  h= s=
  while read -r c s; do [ "$c" != "$a" ] || h=$R/Users/$a; done <"$R${accountsPath}"
  if [ -z "$h" ]; then printf 'sudo: unknown user %s\\n' "$a" >&2; exit 1; fi
  case $a in (_* | 'nobody') h=$R/var/empty ;; esac
  starts "$@"
  exec /usr/bin/env -i PATH="$PATH" HOME="$h" SHELL="$R/bin/sh" USER="$a" LOGNAME="$a" SUDO_USER=root SUDO_UID=0 \\
    ${verbsLibrary} ${markVariable}="$${markVariable}" ${accountVariable}="$a" "$@"
fi`;

const sudoBody = (user: string): string => `case $#:\${1-}:\${2-}:\${3-} in (4:-l:-n:-U)
${listRules} ;;
esac
w=; read -r w <"$R/.sim/sudo"
d=$R${verbsLibraryPath}
[ -e "$d" ] || d=
n= S= H= a=
while [ $# -gt 0 ]; do
  case $1 in
    (-n) n=mute; shift ;;
    (-S) S=stdin; shift ;;
    (-k) shift ;;
    (-p) [ -z "\${2-x}" ] || refused "a prompt that is not simulated"; shift 2 ;;
    (-H) H=own; shift ;;
    (-u) [ "\${2-}" = root ] || a=\${2-}; shift 2 ;;
    (--) shift; break ;;
    (-*) refused "invalid option -- '\${1#-}'" ;;
    (*) break ;;
  esac
done
[ $# -gt 0 ] || refused ''
${asAccount}
e=\${${accountVariable}:-${user}}
c=
for o; do c="\${c:+$c }\${o#"$R"}"; done
${freeByRule}
if [ "$e" != ${shellQuote(user)} ] && [ -z "$free" ]; then
  echo 'sudo: a password is required' >&2
  exit 1
fi
case $w:$free:$n:$S in
  (denied:*::stdin) ${readPassword}
    ${refuseDenied(user)} ;;
  (denied:*)
    ${refuseDenied(user)} ;;
  (*:free:*) ;;
  (*::mute:*) echo 'sudo: a password is required' >&2; exit 1 ;;
  (*:::stdin) ${readPassword} ;;
  (*)
    printf '%s\\n' "/usr/bin/sudo $l" >>"$R/.sim/unknown"
    echo 'sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper' >&2
    echo 'sudo: a password is required' >&2
    exit 1 ;;
esac
starts "$@"
exec /usr/bin/env -i ${sudoVariables.map((name) => `\${${name}+${name}="$${name}"}`).join(' ')} PATH="$PATH" HOME="$HOME" \\
  SHELL="$R/bin/sh" USER=root LOGNAME=root SUDO_USER="$e" SUDO_UID=501 ${verbsLibrary} ${markVariable}="$${markVariable}" ${rootMarkVariable}=1 "$@"`;

/** One rule per line, in the form that {@link sudoBody} supports; anything else is a syntax error. */
const visudoBody = `case $#:\${1-} in (2:-cf) ;; (*) refused 'only -cf with one file is supported' ;; esac
inside "$2"
if [ ! -f "$2" ]; then printf 'visudo: unable to open %s: No such file or directory\\n' "$2" >&2; exit 1; fi
i=0
while IFS= read -r s || [ -n "$s" ]; do
  i=$((i + 1))
  case $s in
    ('' | '#'*) u=x ;;
    (*' ALL=(root) NOPASSWD: ALL' | *' ALL=(root) NOPASSWD: /'*) u=\${s%% ALL=*} ;;
    (*) u=! ;;
  esac
  case $u in ('' | *[!A-Za-z0-9_.-]*) printf '%s:%s:1: syntax error\\n%s\\n^\\n' "$2" "$i" "$s" >&2; exit 1 ;; esac
done <"$2"
printf '%s: parsed OK\\n' "$2"
exit 0`;

/** If one user owns a simulated Mac's files, checks only permission and existence. Else also changes the owner. */
const chownBody = (context: WrapperContext): string => `r=
[ "\${1-}" != -R ] || { r=-R; shift; }
case \${1-} in ('' | *[!a-z0-9_:.-]* | -* | :*) refused 'an owner and files are required' ;; esac
w=$1
shift
[ $# -gt 0 ] || refused 'an owner and files are required'
for o in \${w%%:*}; do
  case $o in (*[!0-9]*) ;; (*) continue ;; esac
  known=
  while read -r a b; do [ "$a" != "$o" ] || { known=1; break; }; done <"$R${accountsPath}"
  if [ -z "$known" ]; then printf 'chown: %s: illegal user name\\n' "$o" >&2; exit 1; fi
done
inside "$@"
${context.programs === undefined ? '' : `exec ${context.programs}/chown $r "$w" "$@"\n`}z=0
for o; do
  if [ ! -e "$o" ] && [ ! -L "$o" ]; then printf 'chown: %s: No such file or directory\n' "$o" >&2; z=1
  elif ! ${isRootTest(context)}; then printf 'chown: %s: Operation not permitted\n' "$o" >&2; z=1
  fi
done
exit "$z"`;

export const systemTools: readonly ToolRow[] = [
  {
    path: '/usr/bin/id',
    forms: 'no argument, -u, -un, -g, -gn, -G, -Gn; each optionally with an account',
    host: 'none',
    usage: 'usage: id [user]\n       id -G [-n] [user]\n       id -g [-nr] [user]\n       id -u [-nr] [user]',
    body: idBody,
  },
  {
    path: '/usr/bin/whoami',
    forms: 'no argument',
    host: 'none',
    usage: 'usage: whoami',
    body: (context) => `[ $# -eq 0 ] || refused ''\n${caller(context)}\necho "$n"`,
  },
  {
    path: '/bin/date',
    forms: '[-u] [-r seconds] [+format]; the clock of the node is ahead by /.sim/clock-offset',
    usage:
      'usage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-f input_fmt]\n            [ -z output_zone ] [-r filename|seconds] [-v[+|-]val[y|m|w|d|H|M|S]]\n            [[[[mm]dd]HH]MM[[cc]yy][.SS] | new_date] [+output_fmt]',
    body: ({ host, isBsd }) => dateBody(host, isBsd),
  },
  {
    path: '/usr/sbin/chown',
    forms: '[-R] owner[:group] file ...: root only; changes nothing, because one user owns all simulated files',
    host: 'none',
    usage: 'usage: chown [-fhnvx] [-R [-H | -L | -P]] owner[:group] file ...',
    body: chownBody,
  },
  {
    path: '/usr/bin/sudo',
    source: from.published('sudo(8) 1.9 as macOS ships it; answers according to /.sim/sudo and the rules in sudoers.d'),
    forms: "-n | -S -k -p '' [-u root] [--] command ...; as root also -l -n -U NAME, and -n -H -u NAME command ...",
    host: 'none',
    usage: 'usage: sudo -h | -K | -k | -V\nusage: sudo [-ABbEHnPS] [-u user] [VAR=value] [-i | -s] [command [arg ...]]',
    body: ({ user }) => sudoBody(user),
  },
  {
    path: '/usr/sbin/visudo',
    source: from.published('visudo(8) of sudo 1.9: output and exit code for one file'),
    forms: '-cf file, with rules of the form USER ALL=(root) NOPASSWD: COMMAND',
    host: 'none',
    usage: 'usage: visudo [-chqsV] [[-f] sudoers ]',
    body: () => visudoBody,
  },
  {
    path: '/usr/bin/xcode-select',
    forms: '-p: the folder of the command line tools, if the Mac has them',
    host: 'none',
    usage: 'Usage: xcode-select [options]',
    body: () => `[ "$#:\${1-}" = 1:-p ] || refused "invalid argument '\${1-}'"
if [ -d "$R${developerFolder}" ]; then echo ${developerFolder}; exit 0; fi
printf '%s\\n' 'xcode-select: error: unable to get active developer directory, use \`sudo xcode-select --switch path/to/Xcode.app\` to set one (or see \`man xcode-select\`)' >&2
exit 2`,
  },
];
