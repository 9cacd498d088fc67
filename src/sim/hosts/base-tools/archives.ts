import { apple } from '../../tools/source.ts';
import { putDoubles } from '../doubled-programs.ts';
import { roomFunctions } from './room.ts';
import { type BaseTool, shellQuote } from './wrapper.ts';

/**
 * What bsdtar does with a zip archive, for a machine whose tar knows none: the list of names, or every file below a
 * folder with its permissions, never outside of it.
 */
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

/** Tools that pack and unpack. */
export const archiveTools: readonly BaseTool[] = [
  {
    path: '/usr/bin/tar',
    source: apple('tar(1) of macOS: bsdtar'),
    forms:
      '-c, -t or -x with f and any of jmvzJ, file, [--no-same-owner] [--no-same-permissions] [-C folder] [name ...]; -tf and -xf read zip as well',
    usage: {
      text: 'Usage:\n  List:    tar -tf <archive-filename>\n  Extract: tar -xf <archive-filename>\n  Create:  tar -cf <archive-filename> [filenames...]\n  Help:    tar --help',
      code: 1,
    },
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
