import { doubleText } from '../../doubles/double-files.ts';
import { nodeDoubleFiles } from '../../doubles/node-archive.ts';
import { type NodeFile, shellQuote, toolFile } from '../../model/node-files.ts';
import { from } from '../../tools/tool.ts';
import { roomFunctions, type ToolRow } from './wrapper.ts';

/** The mount points of images, one per line; empty after a boot. */
const mountsPath = '/.sim/mounts';

/**
 * Mounting unpacks the image, because a simulated image is a .tar.gz with any name. Detaching deletes the files. So a
 * mount point is empty before and after, as on a Mac.
 */
const attach = (
  host: string,
): string => `[ $# -eq 7 ] || refused 'attach: only -nobrowse -readonly -noautoopen -mountpoint folder image is supported'
[ "$2 $3 $4 $5" = '-nobrowse -readonly -noautoopen -mountpoint' ] || refused 'attach: only -nobrowse -readonly -noautoopen -mountpoint is supported'
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

const detach = `[ $# -eq 2 ] || [ "$#:\${3-}" = 3:-force ] || refused 'detach: only a mount point and -force are supported'
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

/** Replaces bsdtar for zip archives: lists names, or unpacks all files with permissions, never outside the folder. */
const readZip = `use IO::Uncompress::RawInflate qw(rawinflate);
sub fail { print STDERR @_; exit 1 }
my ($form, $archive, $folder) = @ARGV;
open my $in, '<:raw', $archive or fail "tar: Error opening archive: Failed to open '$archive'\\n";
my $bytes = do { local $/; <$in> };
my $end = rindex $bytes, "PK\\5\\6";
$end >= 0 or fail "tar: Error opening archive: Unrecognized archive format\\n";
my ($count, $at) = (unpack('v', substr $bytes, $end + 10, 2), unpack('V', substr $bytes, $end + 16, 4));
for (1 .. $count) {
  my ($method, $packed, $size, $name, $extra, $comment, $mode, $start) =
    unpack 'x10 v x8 V V v v v x4 V V', substr $bytes, $at, 46;
  my $path = substr $bytes, $at + 46, $name;
  $at += 46 + $name + $extra + $comment;
  if ($form eq '-tf') { print "$path\\n"; next }
  fail("tar: $path: Path contains '..'\\n") if $path =~ m{(^|/)[.][.](/|$)};
  $path =~ s{^/+}{};
  my $parent = '.';
  for my $part ($folder, (split m{/}, $path)[0 .. ($path =~ tr{/}{}) - 1]) {
    $parent = $parent eq '.' ? $part : "$parent/$part";
    -d $parent or mkdir $parent or fail "tar: $parent: $!\\n";
  }
  next if $path =~ m{/$};
  my ($n, $e) = unpack 'v v', substr $bytes, $start + 26, 4;
  my $data = substr $bytes, $start + 30 + $n + $e, $packed;
  my $text = $data;
  $method == 0 or rawinflate(\\$data => \\$text) or fail "tar: $path: ZIP decompression failed\\n";
  length $text == $size or fail "tar: $path: ZIP uncompressed data is wrong size\\n";
  open my $out, '>:raw', "$folder/$path" or fail "tar: $path: $!\\n";
  (syswrite($out, $text) // -1) == $size or fail "$path: Write failed: No space left on device\\n";
  chmod +($mode >> 16 & 07777) || 0644, "$folder/$path";
}
`;

const zipForms = `if [ -f "\${2-}" ] && [ "$(command -p head -c 2 "$2")" = PK ]; then
  case $1:$#:\${3-} in
    (-tf:2: | -xf:2:) limited "$R/usr/bin/perl" -e ${shellQuote(readZip)} -- "$1" "$2" . ;;
    (-xf:6:--no-same-owner) limited "$R/usr/bin/perl" -e ${shellQuote(readZip)} -- "$1" "$2" "$6" ;;
    (-xf:4:-C) limited "$R/usr/bin/perl" -e ${shellQuote(readZip)} -- "$1" "$2" "$4" ;;
    (*) refused "Option $1 is not supported for zip" ;;
  esac
fi
`;

/** The doubles' folder in a node's root, on the portable host. */
const doublesFolder = '/.sim/doubles';

/** File with the names of a node's unpacked programs that were replaced by doubles, one per line. */
export const doubledPath = '/.sim/doubled';

/** Programs in archives that a simulated Mac cannot run; they would use this computer's network. */
const doubledPrograms = ['node', 'llama-server', 'ggml-rpc-server'] as const;

/** The files of the doubles that replace unpacked programs in a node's root. */
export function doubleFiles(): readonly NodeFile[] {
  const text = doubleText('llamacpp/llama.pl');
  return [
    ...nodeDoubleFiles('node').map((file) => ({ ...file, path: `${doublesFolder}/${file.path}` })),
    ...['llama-server', 'ggml-rpc-server'].map((name) => toolFile(`${doublesFolder}/${name}`, text)),
  ];
}

/**
 * sh code for a tool that has unpacked an archive into folder `$c`. It replaces macOS or Linux executables by doubles
 * before our code seals or starts them. Scripts are not replaced, so that a double's archive works.
 *
 * @see mach-o/loader.h, mach-o/fat.h, elf.h for the first four bytes
 */
export const putDoubles = `[ ! -d "$R${doublesFolder}" ] || command -p find "$c" -type f \\( ${doubledPrograms.map((name) => `-name ${name}`).join(' -o ')} \\) | while IFS= read -r f; do
  case $(command -p od -An -tx1 -N4 "$f" | command -p tr -d ' ') in (cffaedfe | cafebabe | 7f454c46) ;; (*) continue ;; esac
  n=\${f##*/}
  command -p cp "$R${doublesFolder}/$n" "$f.new" && command -p chmod 755 "$f.new" && command -p mv -f "$f.new" "$f"
  [ ! -e "$R${doublesFolder}/$n.network.cjs" ] || command -p cp "$R${doublesFolder}/$n.network.cjs" "$f.network.cjs"
  printf '%s\\n' "$n" >>"$R${doubledPath}"
done
`;

export const archiveTools: readonly ToolRow[] = [
  {
    path: '/usr/bin/hdiutil',
    forms:
      'attach -nobrowse -readonly -noautoopen -mountpoint folder image | detach folder [-force]: an image is a .tar.gz',
    host: 'tar',
    usage: 'Usage: hdiutil <verb> <options>',
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
    forms: 'source target: copies the contents of a folder into the target folder, which is created if missing',
    host: 'cp',
    usage: 'Usage: ditto [ <options> ] src [ ... src ] dst',
    body: ({ host }) => `[ $# -eq 2 ] || refused 'exactly one source and one target are supported'
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
  {
    path: '/usr/bin/tar',
    source: from.apple('tar(1) of macOS: bsdtar'),
    forms:
      '-c, -t or -x with f and any of jmvzJ, file, [--no-same-owner] [--no-same-permissions] [-C folder] [name ...]; -tf and -xf read zip as well',
    usage:
      'Usage:\n  List:    tar -tf <archive-filename>\n  Extract: tar -xf <archive-filename>\n  Create:  tar -cf <archive-filename> [filenames...]\n  Help:    tar --help',
    body: ({ host, isBsd, programs }) => `m=\${1-}
case $m in (-[ctx]*f) ;; (*) refused 'Must specify one of -c, -r, -t, -u, -x' ;; esac
m=\${m#-?}
case \${m%f} in (*[!jmvzJ]*) refused "Option $1 is not supported" ;; esac
for o; do case $o in ("$1" | -C | --no-same-owner | --no-same-permissions) ;; (-?*) refused "Option $o is not supported" ;; esac; done
z=x
for o; do case $z$o in (x* | -C | --no-same-*) ;; (*) readable "$o" ;; esac; z=; done
${roomFunctions}${isBsd ? '' : zipForms}# GNU tar calls gzip by name; bsdtar has it inside.
export PATH=${programs ?? '/usr/bin:/bin'}
case $1 in
(-x*)
  (limited ${shellQuote(host)} "$@") || exit $?
  c=.
  for o; do [ "\${z-}" != -C ] || c=$o; z=$o; done
  ${putDoubles}exit 0
  ;;
esac
limited ${shellQuote(host)} "$@"`,
  },
];
