import type { TreeId } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { libraryList } from '../../node/paths/tree-paths.ts';

/**
 * Prints one digest of all files below a folder of packages, as `packages=`, and one of each compiled library of mlx, as
 * `library.mlx.lib.libmlx.dylib=`. What says how and when a package came to this node alone is left out: bytecode,
 * and `RECORD` and `uv_*.json` of a distribution.
 *
 * @see uv: crates/uv-install-wheel and crates/uv-cache-info for `uv_cache.json`, which has the time of a file in it
 */
const program = `use strict;
use Digest::SHA;
use File::Find;
my $top = shift;
my %of;
my $take = sub {
  my $name = substr $_, 1 + length $top;
  return if $name =~ m{(?:^|/)__pycache__/} or $name =~ m{\\.dist-info/(?:RECORD|uv_[a-z]+\\.json)\\z};
  return if -d $_ and not -l $_;
  $of{$name} = -l $_ ? "-> " . readlink $_ : Digest::SHA->new(256)->addfile($_, "b")->hexdigest;
};
find({ no_chdir => 1, wanted => $take }, $top);
die "there are no packages\\n" unless %of;
my $all = Digest::SHA->new(256);
my %named;
for my $name (sort keys %of) {
  $all->add("$of{$name} $name\\0");
  next unless $name =~ m{^mlx/[A-Za-z0-9_./-]+\\.(?:so|dylib|metallib)\\z} and $of{$name} !~ /^->/;
  my $key = "library." . join ".", split m{/}, $name;
  $named{$key} = $of{$name} if length $key < 64;
}
print "packages=", $all->hexdigest, "\\n";
print "$_=$named{$_}\\n" for sort keys %named;
`;

/**
 * Lines of sh for the job that makes a Python: they write down beside the staged tree what was installed, for the seal.
 * `$t` is the tree, `$p` the program of Python in it.
 */
export const writtenLibraries = (tree: TreeId): string => `l=${pathWord(libraryList(tree))}
x=\${p%%/bin/*}
printf 'python=%s\\n' "\${x##*/}" >"$l" || failed write 'the list of libraries could not be written'
s=''
for x in "$t"/venv/lib/python3.*/site-packages; do
  if [ -d "$x" ]; then s=$x; fi
done
[ -n "$s" ] || failed packages 'uv has made no folder for packages'
o=$(${pathWord(tool.perl)} -e '${program}' "$s" 2>&1) || failed libraries "\${o:-the libraries could not be read}"
printf '%s\\n' "$o" >>"$l" || failed write 'the list of libraries could not be written'
`;
