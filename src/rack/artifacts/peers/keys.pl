# Removes the marked line from an `authorized_keys` file, and adds a new line if a key is given. The other lines, the
# file's owner and its mode stay unchanged. The program fails if the file is missing or is a symbolic link.
#
# Arguments: the file and the mark; for a new line, also its lifetime in seconds, its command and the public key.
use strict;
use warnings;
use Fcntl qw(:DEFAULT :flock :mode);
use POSIX qw(strftime);
use Time::HiRes qw(lstat);

my ($path, $mark, $seconds, $command, $key) = @ARGV;
my ($folder) = $path =~ m{(.*)/};
my $new = "$path.$mark.$$";
# This lock lets only one process continue at a time; the kernel releases the lock when that process exits.
open my $lock, "<", $folder or die "$folder: $!\n";
flock $lock, LOCK_EX or die "$folder: $!\n";
for (1 .. 5) {
  my @before = lstat $path;
  die "$path is not a file\n" if !@before || !S_ISREG($before[2]);
  open my $file, "<:raw", $path or die "$path: $!\n";
  my @lines = <$file>;
  my @kept = grep { !/ \Q$mark\E$/ } @lines;
  if (defined $key) {
    $kept[-1] .= "\n" if @kept && $kept[-1] !~ /\n\z/;
    # sshd interprets the expiry time in the Mac's time zone.
    my $until = strftime "%Y%m%d%H%M", localtime(time + $seconds);
    push @kept, "restrict,command=\"$command\",expiry-time=\"$until\" $key $mark\n";
  }
  exit 0 if join("", @kept) eq join("", @lines);
  sysopen my $to, $new, O_WRONLY | O_CREAT | O_EXCL, 0600 or die "$new: $!\n";
  my $is_written = chown($before[4], $before[5], $to) && chmod($before[2] & 07777, $to) && print({$to} @kept) && close $to;
  my @now = lstat $path;
  # Another program changed the file in the meantime.
  if ($is_written && "@now[0, 1, 7, 9, 10]" ne "@before[0, 1, 7, 9, 10]") { unlink $new; next }
  exit 0 if $is_written && rename $new, $path;
  my $error = $!;
  unlink $new;
  die "$path: $error\n";
}
die "$path changes all the time\n";
