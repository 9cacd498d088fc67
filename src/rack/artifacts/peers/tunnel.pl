# Connects standard input and output to the program that serves a model on this Mac. sshd runs this tunnel under the SSH
# user's account when another Mac logs in with the key of an exchange.
#
# Arguments: the serving program's port on the loopback interface.
use strict;
use warnings;
use Socket;

my ($port) = @ARGV;
socket my $socket, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
connect $socket, pack_sockaddr_in($port, INADDR_LOOPBACK) or die "connect: $!\n";
binmode $_ for $socket, \*STDIN, \*STDOUT;
my $is_open = 1;
while (1) {
  my $bits = "";
  vec($bits, fileno $socket, 1) = 1;
  vec($bits, fileno STDIN, 1) = 1 if $is_open;
  next if select($bits, undef, undef, undef) < 1;
  if ($is_open && vec $bits, fileno STDIN, 1) {
    $is_open = pass(\*STDIN, $socket);
    shutdown $socket, 1 if !$is_open;
  }
  last if vec($bits, fileno $socket, 1) && !pass($socket, \*STDOUT);
}

# Forwards the bytes that have arrived; returns false at the end of the input.
sub pass {
  my ($from, $to) = @_;
  my $got = sysread $from, my $bytes, 1_048_576 or return 0;
  for (my $at = 0; $at < $got;) { $at += syswrite($to, $bytes, $got - $at, $at) // exit 1 }
  return 1;
}
