import { accountsPath } from '../../model/directory.ts';
import { apple } from '../../tools/source.ts';
import { type BaseTool, shellQuote, type WrapperContext } from './wrapper.ts';

const manual = (name: string) => apple(`${name}(1) of macOS`);

/** Set by the simulated sudo for what it runs; `id` and `whoami` look at it. */
export const rootMarkVariable = 'MW_SIM_SUDO';

/** Set by the simulated launchd for a service of an account: whose process it is. */
export const accountVariable = 'MW_SIM_ACCOUNT';

/** A condition of sh: the mark of the simulated sudo, or the truth where the machine knows it. */
export const isRootTest = ({ programs }: WrapperContext): string =>
  programs === undefined ? `[ -n "$${rootMarkVariable}" ]` : `[ "$(${programs}/id -u)" = 0 ]`;

/** Who calls: `root`, the account of a service, or the ssh user. */
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
      case $o in (everyone) x="$x 12" ;; (localaccounts) x="$x 61" ;; (admin) x="$x 80" ;; (*) refused "the number of $o" ;; esac
    done
    echo "$x" ;;
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

const usageOf = (text: string, code: number) => ({ text, code });

/** Tools about the user, the clock and processes. */
export const systemTools: readonly BaseTool[] = [
  {
    path: '/usr/bin/id',
    source: manual('id'),
    forms: 'no argument, -u, -un, -g, -gn, -G, -Gn; each with an account or without',
    host: 'none',
    usage: usageOf(
      'usage: id [user]\n       id -G [-n] [user]\n       id -g [-nr] [user]\n       id -u [-nr] [user]',
      1,
    ),
    body: idBody,
  },
  {
    path: '/usr/bin/whoami',
    source: manual('whoami'),
    forms: 'no argument',
    host: 'none',
    usage: usageOf('usage: whoami', 1),
    body: (context) => `[ $# -eq 0 ] || refused ''\n${caller(context)}\necho "$n"`,
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
];
