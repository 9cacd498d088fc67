/**
 * The first process of every boot of a node, for the perl of its own root. It listens on port 22 and starts an sshd for
 * each connection, as the launchd of macOS does; it starts, signals and reaps the jobs of the simulated launchd. The
 * simulator writes requests to its standard input, one line each with its words in hexadecimal, and reads one line of
 * answer per start from descriptor 3. How jobs end is told on standard output. When its input ends, so does the node.
 *
 * @see ssh.plist of macOS: launchd itself listens for ssh (`inetdCompatibility`) and starts `sshd -i`
 */
export const agentProgram = `use strict;
use Socket;
use POSIX ();
use Fcntl;
use Config;
$| = 1;
my @signal = split ' ', $Config{sig_name};
open my $reply, '>&=', 3 or die;
fcntl $reply, F_SETFD, FD_CLOEXEC;
pipe my $woken, my $wake or die;
fcntl $wake, F_SETFL, O_NONBLOCK;
$SIG{CHLD} = sub { syswrite $wake, '.' };
my $door = opened();
my %job;
my $input = '';
syswrite STDOUT, "up\\n";
while (1) {
  my $bits = '';
  vec($bits, fileno $_, 1) = 1 for \\*STDIN, $woken, $door // ();
  select($bits, undef, undef, undef) < 0 and next;
  if (vec $bits, fileno $woken, 1) {
    sysread $woken, my $dots, 4096;
    while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) { ended($pid, $?) }
  }
  if ($door && vec $bits, fileno $door, 1) {
    accept my $client, $door or next;
    my $pid = fork // next;
    if (!$pid) {
      open STDIN, '<&', $client;
      open STDOUT, '>&', $client;
      open STDERR, '>>', '/.sim/sshd.log';
      exec '/usr/sbin/sshd', '-i', '-e', '-f', '/.sim/sshd/config' or POSIX::_exit(127);
    }
  }
  if (vec $bits, fileno STDIN, 1) {
    sysread STDIN, $input, 65536, length $input or exit 0;
    asked(split / /, $1) while $input =~ s/^([^\\n]*)\\n//;
  }
}
sub opened {
  socket my $new, PF_INET, SOCK_STREAM, 0 or die;
  setsockopt $new, SOL_SOCKET, SO_REUSEADDR, 1;
  bind $new, pack_sockaddr_in(22, INADDR_ANY) or die;
  listen $new, 128 or die;
  return $new;
}
sub ended {
  my ($pid, $status) = @_;
  my $abandons = delete $job{$pid} // return;
  kill 'TERM', -$pid unless $abandons;
  syswrite STDOUT, $status & 127 ? "signalled $pid $signal[$status & 127]\\n" : "exited $pid @{[$status >> 8]}\\n";
}
sub asked {
  my ($what, @words) = @_;
  if ($what eq 'signal') { kill $words[1], $words[0] if exists $job{$words[0]}; return }
  if ($what eq 'door') { $door = $words[0] ? $door // opened() : undef; return }
  my $pid = started(map { pack 'H*', $_ } @words);
  syswrite $reply, "$pid\\n";
}
sub started {
  my ($abandons, $user, $program, $folder, $out, $err, $count, @rest) = @_;
  my @words = splice @rest, 0, $count;
  -f $program && -x _ && -d $folder or return 0;
  my @outputs = map { open my $to, '>>', $_ or return 0; $to } $out, $err;
  my @account = $user eq '' ? () : getpwnam $user;
  $user eq '' || @account or return 0;
  pipe my $failed, my $failing or return 0;
  my $pid = fork // return 0;
  if (!$pid) {
    POSIX::setsid();
    if (@account) {
      ($(, $)) = ($account[3], "$account[3] $account[3]");
      ($<, $>) = ($account[2], $account[2]);
    }
    open STDIN, '<', '/dev/null';
    open STDOUT, '>&', $outputs[0];
    open STDERR, '>&', $outputs[1];
    chdir $folder or do { syswrite $failing, '.'; POSIX::_exit(78) };
    %ENV = @rest;
    exec { $program } @words or syswrite $failing, '.';
    POSIX::_exit(78);
  }
  close $failing;
  if (sysread $failed, my $dot, 1) { waitpid $pid, 0; return 0 }
  $job{$pid} = $abandons;
  return $pid;
}
`;
