import { apple } from '../../tools/source.ts';
import { roomFunctions } from './room.ts';
import { type BaseTool, shellQuote } from './wrapper.ts';

/** The mount points of images, one per line; a Mac that starts has none. */
const mountsPath = '/.sim/mounts';

/**
 * What a Mac mounts is unpacked here: a simulated image is a .tar.gz whatever its name. Detaching takes the files away
 * again. Who knows the folder of a mount point finds it empty before and after.
 */
const attach = (
  host: string,
): string => `[ $# -eq 7 ] || refused 'attach: -nobrowse -readonly -noautoopen -mountpoint folder image is taken here'
[ "$2 $3 $4 $5" = '-nobrowse -readonly -noautoopen -mountpoint' ] || refused 'attach: only -nobrowse -readonly -noautoopen -mountpoint'
inside "$6" "$7"
[ -f "$7" ] || { printf 'hdiutil: attach failed - No such file or directory\\n' >&2; exit 1; }
[ -d "$6" ] || { printf 'hdiutil: attach failed - No such file or directory\\n' >&2; exit 1; }
if ! ${shellQuote(host)} -tzf "$7" >/dev/null 2>&1; then
  printf 'hdiutil: attach failed - image not recognized\\n' >&2; exit 1
fi
${shellQuote(host)} -xzf "$7" -C "$6" 2>/dev/null || { printf 'hdiutil: attach failed - No space left on device\\n' >&2; exit 1; }
printf '%s\\n' "$6" >>"$R${mountsPath}"
printf '/dev/disk4          \\tGUID_partition_scheme          \\t\\n/dev/disk4s1        \\tApple_HFS                      \\t%s\\n' "$6"
exit 0`;

const detach = `[ $# -eq 2 ] || [ "$#:\${3-}" = 3:-force ] || refused 'detach: a mount point and -force are taken here'
inside "$2"
m= n=
while read -r k; do
  if [ "$k" = "$2" ]; then m=x; else n="$n$k
"; fi
done <"$R${mountsPath}"
[ -n "$m" ] || { printf 'hdiutil: detach failed - No such file or directory\\n' >&2; exit 1; }
for f in "$2"/* "$2"/.[!.]*; do
  [ ! -e "$f" ] && [ ! -L "$f" ] || command -p rm -rf "$f"
done
printf %s "$n" >"$R${mountsPath}"
printf '"disk4" ejected.\\n'
exit 0`;

/** Tools that mount images of disks and copy from them. */
export const diskImageTools: readonly BaseTool[] = [
  {
    path: '/usr/bin/hdiutil',
    source: apple('hdiutil(1) of macOS'),
    forms:
      'attach -nobrowse -readonly -noautoopen -mountpoint folder image | detach folder [-force]: an image is a .tar.gz',
    host: 'tar',
    usage: { text: 'Usage: hdiutil <verb> <options>', code: 1 },
    body: ({ host, programs }) => `# GNU tar calls gzip by name; bsdtar has it inside.
export PATH=${programs ?? '/usr/bin:/bin'}
[ -e "$R${mountsPath}" ] || : >"$R${mountsPath}"
case \${1-} in
(attach) ${attach(host)} ;;
(detach) ${detach} ;;
esac
refused "\${1-}: Unknown verb"`,
  },
  {
    path: '/usr/bin/ditto',
    source: apple('ditto(1) of macOS'),
    forms: 'source target: what is below a folder into the folder that the target is or becomes',
    host: 'cp',
    usage: { text: 'Usage: ditto [ <options> ] src [ ... src ] dst', code: 1 },
    body: ({ host }) => `[ $# -eq 2 ] || refused 'one source and one target are taken here'
case $1:$2 in (-* | *:-*) refused "unknown option" ;; esac
inside "$@"
[ -e "$1" ] || { printf "ditto: can't get real path for source '%s'\\n" "$1" >&2; exit 1; }
export POSIXLY_CORRECT=1
${roomFunctions}if [ -d "$1" ]; then
  command -p mkdir -p "$2" || exit 1
  limited ${shellQuote(host)} -pRP "$1"/. "$2"
fi
limited ${shellQuote(host)} -pP "$1" "$2"`,
  },
];
