import { apple } from '../../commands/source.ts';
import { roomFunctions } from './room.ts';
import { type BaseTool, shellQuote } from './wrapper.ts';

/** bsdtar reads zip; on Linux another tool does, where there is one. */
const zipForms = `if [ -f "\${2-}" ] && [ "$(command -p head -c 2 "$2")" = PK ]; then
  case $m:$#:\${3-} in
    (-tf:2:) exec /usr/bin/unzip -Z1 "$2" ;;
    (-xf:4:-C) limited /usr/bin/unzip -qo "$2" -d "$4" ;;
    (-xf:2:) limited /usr/bin/unzip -qo "$2" ;;
    (*) refused "Option $m is not supported for zip" ;;
  esac
fi
`;

/** Tools that pack and unpack. */
export const archiveTools: readonly BaseTool[] = [
  {
    path: '/usr/bin/tar',
    source: apple('tar(1) of macOS: bsdtar'),
    forms: '-c, -t or -x with f and any of jmvzJ, file, [-C folder] [name ...]; -tf and -xf read zip as well',
    usage: {
      text: 'Usage:\n  List:    tar -tf <archive-filename>\n  Extract: tar -xf <archive-filename>\n  Create:  tar -cf <archive-filename> [filenames...]\n  Help:    tar --help',
      code: 1,
    },
    body: ({ host, isBsd }) => `m=\${1-}
case $m in (-[ctx]*f) ;; (*) refused 'Must specify one of -c, -r, -t, -u, -x' ;; esac
m=\${m#-?}
case \${m%f} in (*[!jmvzJ]*) refused "Option $1 is not supported" ;; esac
for o; do case $o in ("$1" | -C) ;; (-?*) refused "Option $o is not supported" ;; esac; done
z=x
for o; do case $z$o in (x* | -C) ;; (*) readable "$o" ;; esac; z=; done
${roomFunctions}${isBsd ? '' : zipForms}# GNU tar calls gzip by name; bsdtar has it inside.
export PATH=/usr/bin:/bin
limited ${shellQuote(host)} "$@"`,
  },
];
