import { shellQuote } from '../../model/node-files.ts';
import { from } from '../../tools/tool.ts';
import {
  checkFiles,
  checkOptions,
  passFiles,
  passLimited,
  passOptions,
  roomFunctions,
  type ToolRow,
} from './wrapper.ts';

/** Escapes that only GNU regular expressions support. */
const gnuEscapes = ['\\+', '\\?', '\\|', '\\t', '\\d', '\\s', '\\w', '\\b', '\\<', '\\>'];

/** Refuses a command line that contains one of these texts. */
const refuseTexts = (texts: readonly string[], why: string): string =>
  `case $* in (${texts.map((text) => `*${shellQuote(text)}*`).join(' | ')}) refused ${shellQuote(why)} ;; esac\n`;

/** Allows only plain numbers as counts for head and tail: neither `-n -1` nor `1K`. */
const plainCounts = (letters: string): string => `while getopts ':${letters}' o; do
  case $o in
    (n | c) case \${OPTARG#+} in ('' | *[!0-9]*) refused "illegal count -- $OPTARG" ;; esac ;;
    ('?' | :) refused "illegal option -- $OPTARG" ;;
  esac
done`;

export const textTools: readonly ToolRow[] = [
  {
    path: '/usr/bin/wc',
    forms: '[-clmw] [file ...], each count right-aligned in eight columns',
    usage: 'usage: wc [--libxo] [-Lclmw] [file ...]',
    body: ({ host, isBsd }) =>
      isBsd
        ? passFiles({ letters: 'clmw' })({ host, isBsd, user: '' })
        : `k=0
while getopts ':clmw' o; do
  case $o in ('?' | :) refused "illegal option -- $OPTARG" ;; esac
  k=$((k + 1))
done
[ "$k" -gt 0 ] || k=3
after $((OPTIND - 1)) readable "$@"
o=$(POSIXLY_CORRECT=1 ${shellQuote(host)} "$@"); s=$?
[ -z "$o" ] || printf '%s\\n' "$o" | while read -r a b c d; do
  case $k in
    (1) printf ' %7d%s\\n' "$a" "\${b:+ $b}\${c:+ $c}\${d:+ $d}" ;;
    (2) printf ' %7d %7d%s\\n' "$a" "$b" "\${c:+ $c}\${d:+ $d}" ;;
    (*) printf ' %7d %7d %7d%s\\n' "$a" "$b" "$c" "\${d:+ $d}" ;;
  esac
done
exit $s`,
  },
  {
    path: '/usr/bin/head',
    forms: '[-n count | -c bytes] [file ...]',
    usage: 'usage: head [-n lines | -c bytes] [file ...]',
    body: ({ host }) => `case \${1-} in (-n | -c) o=\${2-} ;; (-*) o=$1 ;; (*) o= ;; esac
case $o in (*+*) refused 'illegal line count' ;; esac
${plainCounts('n:c:')}
after $((OPTIND - 1)) readable "$@"
export POSIXLY_CORRECT=1
${roomFunctions}limited ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/tail',
    forms: '[-Ff] [-n [+]count | -c [+]bytes] [file ...]',
    usage: 'usage: tail [-F | -f | -r] [-q] [-b # | -c # | -n #] [file ...]',
    body: ({ host }) =>
      `${plainCounts('Ffn:c:')}\nafter $((OPTIND - 1)) readable "$@"\nexport POSIXLY_CORRECT=1\n${roomFunctions}limited ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/grep',
    forms: '[-acEFhHilnoqsvwx] [-e pattern] [-f file] [-m count] [pattern] [file ...]',
    usage:
      'usage: grep [-abcdDEFGHhIiJLlMmnOopqRSsUVvwXxZz] [-A num] [-B num] [-C[num]]\n\t[-e pattern] [-f file] [--binary-files=value] [--color=when]\n\t[--context[=num]] [--directories=action] [--label] [--line-buffered]\n\t[--null] [pattern] [file ...]',
    code: 2,
    body: passFiles({
      letters: 'acEFhHilnoqsvwxe:f:m:',
      fileOptions: 'f',
      textUnless: 'ef',
      extra: refuseTexts(gnuEscapes, 'an escape that only GNU supports'),
    }),
  },
  {
    path: '/usr/bin/sed',
    forms: '[-En] script [file ...], [-e script] [-f file], without GNU escapes; never -i',
    usage:
      'usage: sed script [-EHalnru] [-i extension] [file ...]\n\tsed [-EHalnu] [-i extension] [-e script] ... [-f script_file] ... [file ...]',
    body: ({ host, isBsd }) => `${checkFiles({ letters: 'Ene:f:', fileOptions: 'f', textUnless: 'ef' })}
${refuseTexts(gnuEscapes, 'an escape that only GNU supports')}${refuseTexts(['p}', 'd}', 'q}', ',~', '0,/'], 'extra characters at the end of p command')}exec ${shellQuote(host)} ${isBsd ? '' : '--posix '}"$@"`,
  },
  {
    path: '/usr/bin/awk',
    source: from.apple('awk(1) of macOS: the one true awk'),
    forms: "[-F separator] [-v name=value] 'program' [file ...] or -f file, without gawk functions",
    usage: 'usage: awk [-F fs | --csv][-v var=value][prog | -f progfile][file ...]',
    code: 2,
    body: passFiles({
      letters: 'F:v:f:',
      fileOptions: 'f',
      textUnless: 'f',
      extra: refuseTexts(
        ['gensub', 'strftime', 'systime', 'mktime', 'asort', 'PROCINFO', 'BEGINFILE', 'strtonum'],
        'a function that only gawk supports',
      ),
    }),
  },
  {
    path: '/usr/bin/tr',
    forms: '[-cds] set1 [set2]',
    usage: 'usage: tr [-Ccsu] string1 string2\n       tr [-Ccu] -d string1',
    body: passOptions('cds'),
  },
  {
    path: '/usr/bin/cut',
    forms: '-b list | -c list | -f list [-d char] [-s] [file ...]',
    usage:
      'usage: cut -b list [-n] [file ...]\n       cut -c list [file ...]\n       cut -f list [-s] [-w | -d delim] [file ...]',
    body: passFiles({ letters: 'b:c:d:f:s' }),
  },
  {
    path: '/usr/bin/sort',
    forms: '[-bcfnru] [-k key] [-t char] [-o file] [file ...]',
    usage: 'Try `sort --help` for more information',
    code: 2,
    body: passFiles({ letters: 'bcfnruk:t:o:', fileOptions: 'o' }),
  },
  {
    path: '/usr/bin/xargs',
    source: from.apple('xargs(1) of macOS: runs nothing for empty input'),
    forms: '[-0t] [-n count] [-I text] [-L lines] [-P count] utility ...',
    usage:
      'usage: xargs [-0opt] [-E eofstr] [-I replstr [-R replacements] [-S replsize]]\n             [-J replstr] [-L number] [-n number [-x]] [-P maxprocs]\n             [-s size] [utility [argument ...]]',
    body: ({ host, isBsd }) =>
      `${checkOptions('0tn:I:L:P:')}\nafter $((OPTIND - 1)) starts "$@"\nexec ${shellQuote(host)} ${isBsd ? '' : '-r '}"$@"`,
  },
  {
    path: '/usr/bin/tee',
    forms: '[-a] [file ...]',
    usage: 'usage: tee [-ai] [file ...]',
    body: passLimited({ letters: 'a' }),
  },
  {
    path: '/usr/bin/cmp',
    forms: '[-s] file1 file2',
    usage: 'usage: cmp [-l | -s | -x] [-bhz] file1 file2 [skip1 [skip2]]',
    code: 2,
    body: passFiles({ letters: 's' }),
  },
  {
    path: '/usr/bin/cksum',
    source: from.apple('cksum(1) of macOS: the CRC of POSIX'),
    forms: '[file ...]',
    usage: 'usage: cksum [-o 1 | 2 | 3] [file ...]',
    body: passFiles({ letters: '' }),
  },
  {
    path: '/usr/bin/base64',
    source: from.apple('base64(1) of macOS: one line, decoding by -d or -D'),
    forms: 'standard input only: no argument, -d or -D',
    usage: 'Usage:\tbase64 [-Ddh] [-b num] [-i in_file] [-o out_file]',
    code: 64,
    body: ({ host, isBsd }) => `case $#:$* in
  (0:) ${shellQuote(host)} ${isBsd ? '' : '-w 0 '}${isBsd ? '' : '&& echo'} ;;
  (1:-d | 1:-D) exec ${shellQuote(host)} -d ;;
  (*) refused "unrecognized option "'\`'"$1'" ;;
esac`,
  },
  {
    path: '/usr/bin/shasum',
    source: from.apple('shasum(1) of macOS, a part of perl'),
    forms: '[-a 1|256|512] [file ...], -c file',
    usage: 'Type shasum -h for help',
    body: passFiles({ letters: 'a:c' }),
  },
  {
    path: '/sbin/sha256sum',
    source: from.apple("md5.c and md5_variant_links.sh of Apple's text_cmds-190 (macOS 15)"),
    forms: '[file ...]',
    isOptional: true,
    usage: 'usage: sha256sum [-bctwz] [files ...]',
    // Apple's tool prints every name unchanged; GNU marks a name that has a backslash.
    body: passFiles({ letters: '', extra: refuseTexts(['\\'], 'a name with a backslash is not simulated') }),
  },
];
