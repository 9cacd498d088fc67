import { fnvOffset, fnvPrime } from './fnv.ts';

/** What the file of the program is called beside the other files of a rank. */
export const cacheProgramName = 'verify-cache.pl';

/** What the folder is called in which a worker caches tensors. */
export const cacheFolderName = 'cache';

const hex = ({ high, low }: typeof fnvOffset | typeof fnvPrime): string => `(${high} << 32 | ${low})`;

/**
 * What a worker with a cache is started through, in the perl of macOS: it compares every cached tensor with its name,
 * which is the FNV-1a of its bytes, takes away those that are something else, says so, and becomes the worker. A worker
 * would load a changed tensor without a word, and every answer would be another one.
 *
 * `verify-cache.pl FOLDER MODEL WORD...`: tensors of another model than the one of this digest are taken away unread.
 * Eight processes share the work, since a hash of this kind has to look at one byte after the other; they say so every
 * 256 MiB, because a start whose log grows is waited for.
 *
 * @see `rpc_server::set_tensor` and `get_cached_file` in ggml/src/ggml-rpc/ggml-rpc.cpp: the cache is LLAMA_CACHE/rpc
 */
export const cacheProgram = `# Verifies the cached tensors of a llama.cpp worker, then becomes it. Written by meshwright.
use strict;
use warnings;
$| = 1;

my ($folder, $model) = splice @ARGV, 0, 2;
my $cache = "$folder/rpc";

sub hash_of {
  my ($path) = @_;
  open my $file, '<:raw', $path or return 'unreadable';
  my ($hash, $seen) = (0, 0);
  {
    use integer;
    $hash = ${hex(fnvOffset)};
    while (read $file, my $bytes, 65536) {
      $hash = ($hash ^ $_) * ${hex(fnvPrime)} for unpack 'C*', $bytes;
      print "meshwright: verifying cached tensor $_[1]\\n" unless ++$seen % 4096;
    }
  }
  return sprintf '%016x', $hash;
}

sub tensors {
  opendir my $names, $cache or return;
  return sort grep { $_ ne '.' && $_ ne '..' } readdir $names;
}

my $mark = "$folder/model";
my $was = '';
if (open my $file, '<', $mark) { $was = <$file> // '' }
if ($was ne $model) {
  unlink "$cache/$_" for tensors();
  open my $file, '>', $mark or die "meshwright: $mark: $!\\n";
  print $file $model;
  close $file or die "meshwright: $mark: $!\\n";
}

my @names = tensors();
my $share = 8;
for my $number (0 .. $share - 1) {
  my $child = fork;
  die "meshwright: fork: $!\\n" unless defined $child;
  next if $child;
  for my $index (grep { $_ % $share == $number } 0 .. $#names) {
    my $name = $names[$index];
    if (hash_of("$cache/$name", $name) eq $name) {
      print "meshwright: cached tensor $name is what its name says\\n";
      next;
    }
    print "meshwright: cached tensor $name was not what its name says\\n";
    unlink "$cache/$name" or exit 1;
  }
  exit 0;
}
my $failed = 0;
while (wait != -1) { $failed = 1 if $? }
die "meshwright: the cached tensors could not be verified\\n" if $failed;
exec { $ARGV[0] } @ARGV or die "meshwright: $ARGV[0]: $!\\n";
`;
