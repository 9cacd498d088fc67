/**
 * The program that starts the commands of a simulated fleet, in plain perl: a process of a few megabytes, since fork
 * copies the page tables of whoever calls it, and those of a big simulator (a test has hundreds of megabytes) cost ten
 * times the command itself.
 *
 * It reads frames from its standard input: a line with the number of bytes, then fields that each end in NUL: id,
 * folder, the paths of three FIFOs, program, number of arguments, arguments (the first is the name), and pairs of
 * name and value. It answers in lines: `started ID PID`, `failed ID ERRNO`, `ended ID code N`, `ended ID signal N`.
 * It ends with its input.
 */
export const starterProgram = `
use strict;
use warnings;
no warnings 'exec';
use Fcntl;
use POSIX ();
binmode STDIN;
my %started;
pipe(my $woken, my $waker) or die;
fcntl($_, F_SETFL, O_NONBLOCK) for $woken, $waker;
$SIG{CHLD} = sub { syswrite $waker, '.' };
sub say_line { syswrite STDOUT, "@_\\n" }
sub become {
  my ($folder, $stdio, $program, $words, $environment) = @_;
  $SIG{CHLD} = 'DEFAULT';
  POSIX::setsid();
  for my $fd (0 .. 2) {
    my $opened = POSIX::open($stdio->[$fd], $fd == 0 ? O_RDONLY : O_WRONLY) // return;
    if ($opened != $fd) { POSIX::dup2($opened, $fd) // return; POSIX::close($opened) }
  }
  chdir $folder or return;
  %ENV = @$environment;
  exec { $program } @$words;
}
sub start {
  my ($id, $folder, $in, $out, $err, $program, $count, @rest) = @_;
  my @words = splice @rest, 0, $count;
  pipe(my $trouble, my $teller) or return say_line('failed', $id, $! + 0);
  my $pid = fork;
  return say_line('failed', $id, $! + 0) unless defined $pid;
  if ($pid == 0) {
    become($folder, [$in, $out, $err], $program, \\@words, \\@rest);
    syswrite $teller, $! + 0;
    POSIX::_exit(127);
  }
  close $teller;
  my $errno = '';
  while (1) {
    my $read = sysread $trouble, $errno, 16;
    last if defined $read;
  }
  if ($errno ne '') { waitpid $pid, 0; return say_line('failed', $id, $errno) }
  $started{$pid} = $id;
  say_line('started', $id, $pid);
}
sub reap {
  while ((my $pid = waitpid(-1, POSIX::WNOHANG())) > 0) {
    my $id = delete $started{$pid} // next;
    say_line('ended', $id, $? & 127 ? ('signal', $? & 127) : ('code', $? >> 8));
  }
}
my $input = '';
while (1) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for 0, fileno $woken;
  next if select($ready, undef, undef, undef) < 0;
  if (vec($ready, fileno $woken, 1)) { sysread $woken, my $bytes, 4096; reap() }
  next unless vec($ready, 0, 1);
  my $read = sysread STDIN, $input, 65536, length $input;
  next unless defined $read;
  exit 0 if $read == 0;
  while ($input =~ /^([0-9]+)\\n/ and length $input >= $+[0] + $1) {
    my ($from, $size) = ($+[0], $1);
    my @fields = split /\\0/, substr($input, $from, $size), -1;
    pop @fields;
    $input = substr $input, $from + $size;
    start(@fields);
  }
}
`;
