/** Hashes the published models, a little in every round, so that each byte is compared once in 30 days, unnoticed. */
import { keeperHashed, keeperHashing } from '../../node/paths/keeper-files.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { listName, sealName } from '../../node/paths/own-paths.ts';

/**
 * Compares the next bytes of the models with their lists of files. Words: the folder of models, the two files of the
 * keeper, and the time. Prints one line for each wrong or unreadable file.
 *
 * A day is kept free of the 30, because a version is left alone for a day after it was published or hashed. After a
 * pause, a round catches up for ten minutes at most. The version that was hashed longest ago comes first. `hashing`
 * contains the position and the state of the digest, and a digest of itself, so that a damaged file only means that the
 * version starts again; so does a new seal. `hashed` contains the time at which each version was hashed completely, or
 * could not be read (`!`). A wrong file gets the seal that `rehash-model` writes.
 *
 * @see fcntl(2) of macOS: 48 is F_NOCACHE, so that reading does not push other files out of memory
 */
export const hashProgram = String.raw`use strict;
use Digest::SHA qw(sha256_hex);
use Errno;
my ($models, $hashed, $hashing, $now) = @ARGV;
my ($day, $piece, $end) = (86400, 1048576, 5 + time);
alarm 20;
sub names { opendir my $f, $_[0] or return; return sort grep { !/^[.]/ } readdir $f }
sub lines { open my $f, "<", $_[0] or return; local $/; return split /\n/, scalar <$f> }
sub put {
  my ($path, $text) = @_;
  open my $f, ">", "$path.new" or return;
  print $f $text;
  return close $f && rename "$path.new", $path;
}
sub stamp { my @of = lstat $_[0]; return @of ? "@of[1, 7, 9]" : "" }
my (%trees, %hashed, %unread, %last, $total);
for my $name (names($models)) {
  for my $version (grep { /^[0-9a-f]{16}\z/ } names("$models/$name")) {
    my $id = "$name/$version";
    my ($top, $seal) = ("$models/$id", "$models/$id/${sealName}");
    next if -l "$models/$name" or -l $top or not grep { /^digest=$version[0-9a-f]{48}\z/ } lines($seal);
    my @files = map { m{^([0-9a-f]{64}) (\d{1,15}) ([^/].*)\z} ? [$1, $2, $3] : () } lines("$top/${listName}");
    next if not @files or grep { "/$_->[2]/" =~ m{/[.][.]?/} } @files;
    my $bytes = 0;
    $bytes += $_->[1] for @files;
    $total += $bytes;
    $trees{$id} = { files => \@files, bytes => $bytes, seal => $seal, sealed => stamp($seal) };
    my $at = (lstat $seal)[9];
    $last{$id} = $at > $now + $day ? 0 : $at;
  }
}
my ($before) = lines($hashed);
for (split / /, defined $before ? $before : "") {
  next unless m{^([A-Za-z0-9._-]+/[0-9a-f]{16})([=!])(\d{1,12})\z};
  next unless $trees{$1} and $3 >= $last{$1} and $3 <= $now + $day;
  ($2 eq "=" ? \%hashed : \%unread)->{$1} = $3;
}
for (\%hashed, \%unread) {
  while (my ($id, $at) = each %$_) { $last{$id} = $at if $at > $last{$id} }
}
my @kept = lines($hashing);
my $sum = pop @kept;
my %s = defined $sum && $sum eq sha256_hex(join "\n", @kept) ? map { /^([a-z]+)=(.*)\z/ ? ($1, $2) : () } @kept : ();
my $pause = defined $s{at} && $s{at} <= $now ? $now - $s{at} : 60;
delete $s{at};
my $budget = $piece + int($total / (29 * $day) * ($pause > 600 ? 600 : $pause));
sub over { my ($id, $of, $text) = @_; $of->{$id} = $last{$id} = $now; %s = (); print "model $id $text\n" if $text }
sub wrong {
  my ($id, $tree, $path) = @_;
  my $text = "digest=wrong\nfiles=0\nbytes=$tree->{bytes}\nwrong.1=$path\nfound=$now\n";
  put($tree->{seal}, $text) and print "model $id wrong=$path\n" if stamp($tree->{seal}) eq $tree->{sealed};
  delete $_->{$id} for \%trees, \%hashed, \%unread;
  %s = ();
}
sub again { delete @s{qw(stamp offset sha)}; return ++$s{again} > 3 }
while ($budget > 0 and time < $end) {
  my $tree = defined $s{tree} ? $trees{$s{tree}} : undef;
  if (not $tree or $s{sealed} ne $tree->{sealed}) {
    my ($id) = sort { $last{$a} <=> $last{$b} or $a cmp $b } grep { $last{$_} <= $now - $day } keys %trees;
    %s = ();
    last unless defined $id;
    $tree = $trees{$id};
    %s = (tree => $id, sealed => $tree->{sealed}, file => 0, again => 0);
  }
  my $id = $s{tree};
  my ($digest, $size, $path) = @{ $tree->{files}[$s{file}] };
  my $full = "$models/$id/$path";
  my $stamp = stamp($full);
  if ($stamp eq "" ? $!{ENOENT} || $!{ENOTDIR} : ! -f _ || -s _ != $size) { wrong($id, $tree, $path); next }
  my $file;
  if ($stamp eq "" or not open $file, "<:raw", $full) { over($id, \%unread, "unread=$path"); next }
  fcntl $file, 48, 1 if $^O eq "darwin";
  my $sha = Digest::SHA->new(256);
  if (defined $s{stamp}) {
    my $state = $s{sha};
    $state =~ tr/|/\n/;
    if ($s{stamp} ne $stamp or not $sha->putstate($state)) {
      $sha = Digest::SHA->new(256);
      if (again()) { over($id, \%unread, "unread=$path"); next }
    }
  }
  $s{stamp} = $stamp;
  $s{offset} = 0 unless defined $s{offset};
  my $got = sysseek $file, $s{offset}, 0;
  while ($got and $s{offset} < $size and $budget > 0 and time < $end) {
    my $most = $size - $s{offset} < $piece ? $size - $s{offset} : $piece;
    $got = sysread $file, my $bytes, $most < $budget ? $most : $budget;
    last unless $got;
    $sha->add($bytes);
    $s{offset} += $got;
    $budget -= $got;
  }
  if (not $got) { over($id, \%unread, "unread=$path"); next }
  if ($s{offset} < $size) { $s{sha} = $sha->getstate; $s{sha} =~ tr/\n/|/; last }
  if (stamp($full) ne $stamp) { over($id, \%unread, "unread=$path") if again(); next }
  if ($sha->hexdigest ne $digest) { wrong($id, $tree, $path); next }
  delete @s{qw(stamp offset sha)};
  @s{qw(file again)} = ($s{file} + 1, 0);
  next if $s{file} < @{ $tree->{files} };
  delete $unread{$id};
  over($id, \%hashed, "");
}
my $after = join " ", (map { "$_=$hashed{$_}" } sort keys %hashed), map { "$_!$unread{$_}" } sort keys %unread;
put($hashed, "$after\n") if $after ne (defined $before ? $before : "");
my $text = join "\n", "at=$now", map { "$_=$s{$_}" } sort keys %s;
%s ? put($hashing, "$text\n" . sha256_hex($text) . "\n") : unlink $hashing;`;

/**
 * `rehash` hashes the next bytes of the published models, unless a network change is under way. It must not fail the
 * round, whose own work is done.
 */
export const hashFunction = `rehash() {
  may || return 0
  for f in ${pathWord(below(place.opt, 'models'))}/*/*/${listName}; do
    [ -f "$f" ] || return 0
    ${pathWord(tool.perl)} -e '${hashProgram}' -- ${pathWord(below(place.opt, 'models'))} ${pathWord(keeperHashed)} ${pathWord(keeperHashing)} "$(${pathWord(tool.date)} -u +%s)" 2>/dev/null | while IFS= read -r x; do say "$x"; done
    return 0
  done
}`;
