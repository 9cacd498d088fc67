import { accountsPath } from '../../model/directory.ts';
import { apple } from '../../tools/tool.ts';
import { isRootTest } from './system.ts';
import { type BaseTool, checkFiles, passFiles, passLimited, shellQuote, type WrapperContext } from './wrapper.ts';

const manual = (name: string) => apple(`${name}(1) of macOS`);

/** Forms of `stat -f` with the GNU format that prints the same. */
const statFormats = {
  '%z': '%s',
  '%m': '%Y',
  '%Lp': '%a',
  '%N': '%n',
  '%u': '%u',
  '%g': '%g',
  '%i': '%i',
  '%l': '%h',
  '%i %l': '%i %h',
};

const statArms = Object.entries(statFormats)
  .map(([bsd, gnu]) => `  (${shellQuote(bsd)}*) g=$g${gnu}; f=\${f#${bsd}} ;;`)
  .join('\n');

/**
 * The simulator counts what is deleted of models: a path below the folder of one, also one that is relative. What is
 * not deleted in the end because of another error is counted all the same.
 */
const noteDeletion = `i=1
for o; do
  [ "$i" -ge "$OPTIND" ] || { i=$((i + 1)); continue; }
  case $o in (/*) ;; (*) o=$PWD/$o ;; esac
  case $o in ("$R/opt/meshwright/models/"?*)
    [ ! -e "$o" ] || "$R/usr/bin/perl" "$R/.sim/ask" "$PWD" note delete "$o" >/dev/null 2>&1 ;; esac
done
`;

/**
 * Where one uid owns every file of a simulated Mac it is only checked that the caller may do it and that the files are
 * there; otherwise the owner changes as well.
 */
const chownBody = (context: WrapperContext): string => `r=
[ "\${1-}" != -R ] || { r=-R; shift; }
case \${1-} in ('' | *[!a-z0-9_:.-]* | -* | :*) refused 'an owner and files are needed here' ;; esac
w=$1
shift
[ $# -gt 0 ] || refused 'an owner and files are needed here'
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

/** Tools that make, move, remove and describe files. */
export const fileTools: readonly BaseTool[] = [
  {
    path: '/bin/cat',
    source: manual('cat'),
    forms: '[-nu] [file ...]',
    usage: { text: 'usage: cat [-belnstuv] [file ...]', code: 1 },
    body: passLimited({ letters: 'nu' }),
  },
  {
    path: '/bin/rm',
    source: manual('rm'),
    forms: '[-dfRrv] file ...',
    usage: { text: 'usage: rm [-f | -i] [-dIPRrvWx] file ...\n       unlink [--] file', code: 64 },
    body: passFiles({ letters: 'dfRrv', isChanging: true, extra: noteDeletion }),
  },
  {
    path: '/bin/rmdir',
    source: manual('rmdir'),
    forms: 'directory ...',
    usage: { text: 'usage: rmdir [-pv] directory ...', code: 1 },
    body: passFiles({ letters: '', isChanging: true }),
  },
  {
    path: '/bin/mkdir',
    source: manual('mkdir'),
    forms: '[-pv] [-m mode] directory ...',
    usage: { text: 'usage: mkdir [-pv] [-m mode] directory_name ...', code: 64 },
    body: passFiles({ letters: 'pvm:', isChanging: true }),
  },
  {
    path: '/bin/mv',
    source: manual('mv'),
    forms: '[-fiv] source ... target, -fh source link (which Linux calls -fT)',
    usage: {
      text: 'usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory',
      code: 64,
    },
    body: (context) =>
      context.isBsd
        ? passFiles({ letters: 'fhiv', isChanging: true })(context)
        : `case $#:\${1-} in (3:-fh | 3:-hf)
  shift; inside "$@"
  [ ! -L "$2" ] || exec ${shellQuote(context.host)} -fT "$1" "$2"
  set -- -f "$@" ;; esac\n${passFiles({ letters: 'fiv', isChanging: true })(context)}`,
  },
  {
    path: '/bin/cp',
    source: manual('cp'),
    forms: '[-cfpPRv] source ... target',
    usage: {
      text: 'usage: cp [-R [-H | -L | -P]] [-fi | -n] [-aclNpsSvXx] source_file target_file',
      code: 64,
    },
    body: (context) =>
      context.isBsd
        ? passLimited({ letters: 'cfpPRv' })(context)
        : `case \${1-} in (-c) shift ;; (-cp) shift; set -- -p "$@" ;; esac\n${passLimited({ letters: 'fpPRv' })(context)}`,
  },
  {
    path: '/bin/ln',
    source: manual('ln'),
    forms: '[-fnsv] source [target], -sfh (which Linux calls -sfn)',
    usage: { text: 'usage: ln [-s [-F] | -L | -P] [-f | -i] [-hnv] source_file [target_file]', code: 1 },
    body: (context) =>
      context.isBsd
        ? passFiles({ letters: 'fhnsv', isChanging: true })(context)
        : `case \${1-} in (-sfh | -shf) shift; set -- -sfn "$@" ;; esac\n${passFiles({ letters: 'fnsv', isChanging: true })(context)}`,
  },
  {
    path: '/bin/chmod',
    source: manual('chmod'),
    forms: '[-fRv] mode file ..., mode in octal or of ugo+-=rwxXst',
    usage: {
      text: 'usage: chmod [-fhv] [-R [-H | -L | -P]] [-a | +a | =a  [i][# [ n]]] mode|entry file ...',
      code: 1,
    },
    body: ({ host }) => `${checkFiles({ letters: 'fRv', textUnless: '', isChanging: true })}
n=$((OPTIND - 1)); i=0
for o; do i=$((i + 1)); [ "$i" -le "$n" ] && continue; break; done
case $o in ('' | *[!0-7ugoarwxXst,+=-]*) refused "Invalid file mode: $o" ;; esac
POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/sbin/chown',
    source: manual('chown'),
    forms: '[-R] owner[:group] file ...: root only, and nothing happens, since one user owns all simulated files',
    host: 'none',
    usage: { text: 'usage: chown [-fhnvx] [-R [-H | -L | -P]] owner[:group] file ...', code: 1 },
    body: chownBody,
  },
  {
    path: '/bin/ls',
    source: manual('ls'),
    forms: '[-1AadFRrt] [file ...]',
    usage: {
      text: 'usage: ls [-@ABCFGHILOPRSTUWXabcdefghiklmnopqrstuvwxy1%,] [--color=when] [-D format] [file ...]',
      code: 1,
    },
    body: passFiles({ letters: '1AadFRrt', hasDefault: true }),
  },
  {
    path: '/usr/bin/touch',
    source: manual('touch'),
    forms: '[-acm] [-r file] [-t time] file ...',
    usage: {
      text: 'usage: touch [-A [-][[hh]mm]SS] [-achm] [-r file] [-t [[CC]YY]MMDDhhmm[.SS]]\n       [-d YYYY-MM-DDThh:mm:SS[.frac][tz]] file ...',
      code: 1,
    },
    body: passFiles({ letters: 'acmr:t:', fileOptions: 'r', isChanging: true }),
  },
  {
    path: '/usr/bin/mktemp',
    source: manual('mktemp'),
    forms: '[-dqu] template that ends in three X or more; -d alone and -t prefix, below TMPDIR or /tmp',
    usage: {
      text: 'usage: mktemp [-d] [-p tmpdir] [-q] [-t prefix] [-u] template ...\n       mktemp [-d] [-p tmpdir] [-q] [-u] -t prefix',
      code: 1,
    },
    body: ({ host }) => `p= f=
while getopts ':dqut:' o; do
  case $o in (d | q | u) f="$f -$o" ;; (t) p=$OPTARG ;; (*) refused "illegal option -- $OPTARG" ;; esac
done
shift $((OPTIND - 1))
case $#:$p in
  (0:*/*) refused 'a prefix is no path' ;;
  (0:*) set -- "\${TMPDIR:-$R/tmp}/\${p:-tmp}.XXXXXXXXXX" ;;
  (1:) case $1 in (*[X][X][X]) ;; (*) refused 'the template needs X at its end' ;; esac ;;
  (*) refused 'one template at a time' ;;
esac
inside "$1"
exec ${shellQuote(host)} $f "$1"`,
  },
  {
    path: '/usr/bin/stat',
    source: manual('stat'),
    forms: `[-L] -f format file ..., format of ${Object.keys(statFormats).join(' ')}`,
    usage: { text: 'usage: stat [-FLnq] [-f format | -l | -r | -s | -x] [-t timefmt] [file ...]', code: 1 },
    body: ({ host, isBsd }) => `L= f=
while getopts ':Lf:' o; do
  case $o in (L) L=-L ;; (f) f=$OPTARG ;; (*) refused "illegal option -- $OPTARG" ;; esac
done
shift $((OPTIND - 1))
[ -n "$f" ] && [ $# -gt 0 ] || refused 'a format and a file are needed here'
readable "$@"
b=$f g=
while [ -n "$f" ]; do case $f in
${statArms}
  (%*) refused "the format $b" ;;
  (*) g=$g\${f%"\${f#?}"}; f=\${f#?} ;;
esac; done
${isBsd ? `exec ${shellQuote(host)} $L -f "$b" -- "$@"` : `exec ${shellQuote(host)} $L -c "$g" -- "$@"`}`,
  },
  {
    path: '/usr/bin/readlink',
    source: manual('readlink'),
    forms: '[-n] file, one link only',
    usage: { text: 'usage: readlink [-fn] [file ...]', code: 1 },
    body: passFiles({ letters: 'n' }),
  },
  {
    path: '/usr/bin/find',
    source: manual('find'),
    forms:
      'path ... then -name -path -type -maxdepth -mindepth -mtime -newer -cnewer -perm -links -user -group -acl (no file has one) -empty -prune -print -print0 -delete -exec ! ( ) -a -o',
    usage: {
      text: 'usage: find [-H | -L | -P] [-EXdsx] [-f path] path ... [expression]\n       find [-H | -L | -P] [-EXdsx] -f path [path ...] [expression]',
      code: 1,
    },
    body: ({ host, isBsd }) => `case \${1-} in ('' | -*) refused '' ;; esac
x= p=path
for o; do
  shift
  case $x:$o in (:-acl) set -- "$@" ${isBsd ? '-acl' : '-false'} ;; (*) set -- "$@" "$o" ;; esac
  case $o in ('!' | '(' | -?*) [ "$p" != path ] || p= ;; esac
  case $p in (path | -newer | -cnewer) inside "$o" ;; (-exec) starts "$o" ;; esac
  [ "$p" = path ] || p=$o
  case $x:$o in
    (x:';' | x:+) x= ;;
    (x:*) ;;
    (:-exec) x=x ;;
    (:-name | :-path | :-type | :-maxdepth | :-mindepth | :-mtime | :-newer | :-cnewer | :-perm | :-links | :-user | :-group | :-acl | :-empty | :-prune) ;;
    (:-print | :-print0 | :-delete | :-a | :-o) ;;
    (:-[0-9]*) ;;
    (:-*) refused "$o: unknown primary or operator" ;;
  esac
done
exec ${shellQuote(host)} "$@"`,
  },
];
