import { shellQuote } from '../../model/node-files.ts';
import { checkFiles, passFiles, passLimited, type ToolRow } from './wrapper.ts';

/** `stat -f` formats, each with the equivalent GNU format. */
const statFormats = {
  '%z': '%s',
  '%m': '%Y',
  '%Lp': '%a',
  '%N': '%n',
  '%u': '%u',
  '%g': '%g',
  '%i': '%i',
  '%l': '%h',
  '%d': '%d',
  '%c': '%Z',
  '%i %l': '%i %h',
};

const statArms = Object.entries(statFormats)
  .map(([bsd, gnu]) => `  (${shellQuote(bsd)}*) g=$g${gnu}; f=\${f#${bsd}} ;;`)
  .join('\n');

/** A path of a model file counts even if a different error prevents the deletion. */
const noteDeletion = `i=1
for o; do
  [ "$i" -ge "$OPTIND" ] || { i=$((i + 1)); continue; }
  case $o in (/*) ;; (*) o=$PWD/$o ;; esac
  case $o in ("$R/opt/meshwright/models/"?*)
    [ ! -e "$o" ] || "$R/.sim/ask" "$PWD" note delete "$o" >/dev/null 2>&1 ;; esac
done
`;

export const fileTools: readonly ToolRow[] = [
  {
    path: '/bin/cat',
    forms: '[-nu] [file ...]',
    usage: 'usage: cat [-belnstuv] [file ...]',
    body: passLimited({ letters: 'nu' }),
  },
  {
    path: '/bin/rm',
    forms: '[-dfRrv] file ...',
    usage: 'usage: rm [-f | -i] [-dIPRrvWx] file ...\n       unlink [--] file',
    code: 64,
    body: passFiles({ letters: 'dfRrv', isChanging: true, extra: noteDeletion }),
  },
  {
    path: '/bin/sync',
    forms: 'no argument: simulated disks lose nothing',
    host: 'none',
    usage: 'usage: sync',
    body: () => `[ $# -eq 0 ] || refused ''`,
  },
  {
    path: '/bin/rmdir',
    forms: 'directory ...',
    usage: 'usage: rmdir [-pv] directory ...',
    body: passFiles({ letters: '', isChanging: true }),
  },
  {
    path: '/bin/mkdir',
    forms: '[-pv] [-m mode] directory ...',
    usage: 'usage: mkdir [-pv] [-m mode] directory_name ...',
    code: 64,
    body: passFiles({ letters: 'pvm:', isChanging: true }),
  },
  {
    path: '/usr/bin/mkfifo',
    forms: '[-m mode] fifo ...',
    usage: 'usage: mkfifo [-m mode] fifo_name ...',
    body: passFiles({ letters: 'm:', isChanging: true }),
  },
  {
    path: '/bin/mv',
    forms: '[-fiv] source ... target, -fh source link (-fT on Linux)',
    usage: 'usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory',
    code: 64,
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
    forms: '[-cfpPRv] source ... target',
    usage: 'usage: cp [-R [-H | -L | -P]] [-fi | -n] [-aclNpsSvXx] source_file target_file',
    code: 64,
    body: (context) =>
      context.isBsd
        ? passLimited({ letters: 'cfpPRv' })(context)
        : `case \${1-} in (-c) shift ;; (-cp) shift; set -- -p "$@" ;; esac\n${passLimited({ letters: 'fpPRv' })(context)}`,
  },
  {
    path: '/bin/ln',
    forms: '[-fnsv] source [target], -sfh (-sfn on Linux)',
    usage: 'usage: ln [-s [-F] | -L | -P] [-f | -i] [-hnv] source_file [target_file]',
    body: (context) =>
      context.isBsd
        ? passFiles({ letters: 'fhnsv', isChanging: true })(context)
        : `case \${1-} in (-sfh | -shf) shift; set -- -sfn "$@" ;; esac\n${passFiles({ letters: 'fnsv', isChanging: true })(context)}`,
  },
  {
    path: '/bin/chmod',
    forms: '[-fRv] mode file ..., mode in octal or with ugo+-=rwxXst',
    usage: 'usage: chmod [-fhv] [-R [-H | -L | -P]] [-a | +a | =a  [i][# [ n]]] mode|entry file ...',
    body: ({ host }) => `${checkFiles({ letters: 'fRv', textUnless: '', isChanging: true })}
n=$((OPTIND - 1)); i=0
for o; do i=$((i + 1)); [ "$i" -le "$n" ] && continue; break; done
case $o in ('' | *[!0-7ugoarwxXst,+=-]*) refused "Invalid file mode: $o" ;; esac
POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/bin/ls',
    forms: '[-1AadFRrt] [file ...]',
    usage: 'usage: ls [-@ABCFGHILOPRSTUWXabcdefghiklmnopqrstuvwxy1%,] [--color=when] [-D format] [file ...]',
    body: passFiles({ letters: '1AadFRrt', hasDefault: true }),
  },
  {
    path: '/usr/bin/touch',
    forms: '[-acm] [-r file] [-t time] file ...',
    usage:
      'usage: touch [-A [-][[hh]mm]SS] [-achm] [-r file] [-t [[CC]YY]MMDDhhmm[.SS]]\n       [-d YYYY-MM-DDThh:mm:SS[.frac][tz]] file ...',
    body: passFiles({ letters: 'acmr:t:', fileOptions: 'r', isChanging: true }),
  },
  {
    path: '/usr/bin/mktemp',
    forms: '[-dqu] template that ends with XXX; or only -d or -t prefix, below TMPDIR or /tmp',
    usage:
      'usage: mktemp [-d] [-p tmpdir] [-q] [-t prefix] [-u] template ...\n       mktemp [-d] [-p tmpdir] [-q] [-u] -t prefix',
    body: ({ host }) => `p= f=
while getopts ':dqut:' o; do
  case $o in (d | q | u) f="$f -$o" ;; (t) p=$OPTARG ;; (*) refused "illegal option -- $OPTARG" ;; esac
done
shift $((OPTIND - 1))
case $#:$p in
  (0:*/*) refused 'a prefix must not be a path' ;;
  (0:*) set -- "\${TMPDIR:-$R/tmp}/\${p:-tmp}.XXXXXXXXXX" ;;
  (1:) case $1 in (*[X][X][X]) ;; (*) refused 'the template must end with XXX' ;; esac ;;
  (*) refused 'only one template is supported' ;;
esac
inside "$1"
exec ${shellQuote(host)} $f "$1"`,
  },
  {
    path: '/usr/bin/stat',
    forms: `[-L] -f format file ..., format with ${Object.keys(statFormats).join(' ')}`,
    usage: 'usage: stat [-FLnq] [-f format | -l | -r | -s | -x] [-t timefmt] [file ...]',
    body: ({ host, isBsd }) => `L= f=
while getopts ':Lf:' o; do
  case $o in (L) L=-L ;; (f) f=$OPTARG ;; (*) refused "illegal option -- $OPTARG" ;; esac
done
shift $((OPTIND - 1))
[ -n "$f" ] && [ $# -gt 0 ] || refused 'a format and a file are required'
readable "$@"
b=$f g=
while [ -n "$f" ]; do case $f in
${statArms}
  (%*) refused "unsupported format $b" ;;
  (*) g=$g\${f%"\${f#?}"}; f=\${f#?} ;;
esac; done
${isBsd ? `exec ${shellQuote(host)} $L -f "$b" -- "$@"` : `exec ${shellQuote(host)} $L -c "$g" -- "$@"`}`,
  },
  {
    path: '/usr/bin/readlink',
    forms: '[-fn] file ...',
    usage: 'usage: readlink [-fn] [file ...]',
    body: passFiles({ letters: 'fn' }),
  },
  {
    path: '/usr/bin/find',
    forms:
      'path ... then -name -path -type -maxdepth -mindepth -mtime -newer -cnewer -perm -links -user -group -acl (no file has one) -empty -prune -print -print0 -delete -exec ! ( ) -a -o',
    usage:
      'usage: find [-H | -L | -P] [-EXdsx] [-f path] path ... [expression]\n       find [-H | -L | -P] [-EXdsx] -f path [path ...] [expression]',
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
