# Measures TCP over one cable with the same program at the other end, for comparison with RDMA. The program needs only
# the core modules of macOS's perl (5.34).
#
# Arguments: OWN-ADDRESS lead|follow SECONDS. Standard input: the lines that the other end prints.
# Prints: the lines listed in native/core/measure.h, except that LOST is always 0 and the first line is
#   hello 2 ADDRESS PORT    the leading end listens on this address and port; port 0: this end follows, and connects
#                           from this address
#
# Prints `failed REASON` and exits with 1 at a deadline, after a signal, or if the other end or the caller is gone.
use strict;
use warnings;
use Errno qw(EAGAIN ECONNABORTED EINPROGRESS EINTR);
use IO::Handle;
use Socket qw(:DEFAULT inet_pton IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($own, $role, $seconds) = @ARGV;
my ($message_bytes, $ping_bytes, $most_samples, $longest_line) = (65_536, 16, 200_000, 512);
# If a socket's buffer stays full for `$patience` seconds, the socket counts as stalled. After `$silent` seconds, the
# cable counts as dead.
my ($patience, $silent) = (0.1, 5);
# Standard input is checked only once per this many messages, because each check takes microseconds.
my $read_every = 16;
# Consecutive messages differ. Each message is compared as a whole, because perl compares strings quickly but copies
# them slowly.
my @messages = map { message($_) } 1 .. 4;

my ($socket, $deadline);
my $input = "";

sub message {
  my ($first) = @_;
  return pack "C*", map { ($first + $_ * 7 + int($_ / 256)) % 256 } 1 .. $message_bytes;
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub say_line { syswrite STDOUT, "@_\n" or die "the output is closed\n" }

# Waits briefly for standard input or for the handle. Returns true if the handle can be read or written.
sub wait_for {
  my ($handle, $is_writing, $most) = @_;
  die "the time for the measurement is over\n" if now() > $deadline;
  my ($reads, $writes) = ("", "");
  vec($reads, fileno STDIN, 1) = 1;
  my $bits = $is_writing ? \$writes : \$reads;
  vec($$bits, fileno $handle, 1) = 1 if $handle;
  return 0 if select($reads, $writes, undef, $most // $patience) < 1;
  if (vec $reads, fileno STDIN, 1) {
    sysread STDIN, $input, $longest_line, length $input or die "the other end is gone\n";
  }
  return $handle && vec $$bits, fileno $handle, 1;
}

# Returns the next input line, if there is one. A line that does not begin with `$word` is an error.
sub heard {
  my ($word) = @_;
  my ($line) = $input =~ /^([^\n]*)\n/;
  die "the other end sent an unexpected line\n" if length($line // $input) > $longest_line;
  return if !defined $line;
  substr $input, 0, 1 + length $line, "";
  my ($first) = $line =~ /^(\w*)/;
  return $line if defined $word && $first eq $word;
  die $first eq "failed" ? "the other end failed\n" : "the other end sent an unexpected line\n";
}

sub await {
  my ($word) = @_;
  while (1) {
    my $line = heard($word);
    return $line if defined $line;
    wait_for();
  }
}

# --- the connection ---

sub connect_ends {
  my $address = inet_pton(AF_INET, $own) // die "the own address is wrong\n";
  socket my $near, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
  bind $near, pack_sockaddr_in(0, $address) or die "bind: $!\n";
  my $port = 0;
  if ($role eq "lead") {
    listen $near, 8 or die "listen: $!\n";
    ($port) = unpack_sockaddr_in(getsockname $near);
  }
  $near->blocking(0);
  say_line("hello 2 $own $port");
  my ($text, $peer_port) = await("hello") =~ /^hello 2 ([0-9.]{7,15}) ([0-9]{1,5})$/;
  my $peer = inet_pton(AF_INET, $text // "");
  my $is_right = defined $peer && ($role eq "lead" ? $peer_port == 0 : $peer_port > 0 && $peer_port < 65_536);
  die "the other end sent a wrong address\n" if !$is_right;
  my $is_ready = $role eq "lead" ? accept_from($near, $peer) : connect_to($near, $peer, $peer_port);
  $socket->blocking(0);
  setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1 or die "setsockopt: $!\n";
  say_line("ready");
  await("ready") if !$is_ready;
}

# Accepts a connection only from the other end. Returns true if the other end has already reported that it is ready,
# which can happen before its connection is accepted.
sub accept_from {
  my ($listener, $peer) = @_;
  my $is_ready;
  while (1) {
    if (accept $socket, $listener) {
      my $name = getpeername $socket;
      return $is_ready if defined $name && (unpack_sockaddr_in($name))[1] eq $peer;
      close $socket;
    } elsif ($! != EAGAIN && $! != EINTR && $! != ECONNABORTED) { die "accept: $!\n" }
    $is_ready //= heard("ready");
    wait_for($listener);
  }
}

sub connect_to {
  my ($near, $peer, $port) = @_;
  if (!connect $near, pack_sockaddr_in($port, $peer)) {
    die "connect: $!\n" if $! != EINPROGRESS;
    # macOS itself would keep trying for 75 seconds.
    my $until = now() + $silent;
    until (wait_for($near, 1)) { die "connect: Operation timed out\n" if now() > $until }
    $! = unpack "i", getsockopt $near, SOL_SOCKET, SO_ERROR;
    die "connect: $!\n" if $!;
  }
  $socket = $near;
  return 0;
}

# Appends the bytes that have arrived, up to this total length.
sub read_some {
  my ($bytes, $length) = @_;
  my $got = sysread $socket, $$bytes, $length - length $$bytes, length $$bytes;
  die "the other end closed the connection\n" if defined $got && $got == 0;
  die "read: $!\n" if !defined $got && $! != EAGAIN && $! != EINTR;
  return $got;
}

# Sends all bytes and returns the number of stalls.
sub write_all {
  my ($bytes) = @_;
  my ($at, $stalls, $moved_at) = (0, 0, now());
  while ($at < length $$bytes) {
    my $sent = syswrite $socket, $$bytes, length($$bytes) - $at, $at;
    if (defined $sent) { ($at, $moved_at) = ($at + $sent, now()); next }
    die "write: $!\n" if $! != EAGAIN && $! != EINTR;
    my $has_room = wait_for($socket, 1);
    heard();
    next if $has_room;
    $stalls++;
    die "the other end reads nothing\n" if now() - $moved_at > $silent;
  }
  return $stalls;
}

# --- the measurements ---

# Sends messages one at a time, and waits for the reply to each message.
sub measure_latency {
  my ($end, $number, @samples) = (now() + $seconds, 0);
  while (!@samples || (now() < $end && @samples < $most_samples)) {
    my $ping = pack "a8 Q>", "ping", $number++;
    my ($pong, $began) = ("", now());
    write_all(\$ping);
    until (read_some(\$pong, $ping_bytes) && length $pong == $ping_bytes) {
      die "no message arrived\n" if !wait_for($socket) && now() - $began > $silent;
      heard();
    }
    push @samples, (now() - $began) / 2;
    die "the other end sent a wrong message\n" if $pong ne $ping;
  }
  # The first tenth of the samples only warms up the caches.
  splice @samples, 0, @samples / 10;
  @samples = sort { $a <=> $b } @samples;
  my @chosen = @samples[@samples / 2, @samples * 99 / 100, -1];
  say_line("latency", scalar @samples, 0, map { nanoseconds($_) } @chosen);
}

sub nanoseconds { return sprintf "%.0f", 1e9 * $_[0] }

# Echoes messages until the other end has measured the latency.
sub answer {
  my $ping = "";
  until (defined heard("latency")) {
    if (read_some(\$ping, $ping_bytes) && length $ping == $ping_bytes) {
      write_all(\$ping);
      $ping = "";
    }
    wait_for($socket);
  }
}

sub send_stream {
  await("listening");
  my ($sent, $stalls, $end) = (0, 0, now() + $seconds);
  do {
    $stalls += write_all(\$messages[$sent++ % @messages]);
    if ($sent % $read_every == 0) { wait_for(undef, 0, 0); heard() }
  } while now() < $end;
  say_line("sent $sent $stalls");
  await("received");
}

sub receive_stream {
  say_line("listening");
  my ($count, $bytes, $wrong, $message, $first_at, $last_at, $expected) = (0, 0, 0, "");
  until (defined $expected && $count >= $expected) {
    my $got = read_some(\$message, $message_bytes);
    if ($got) {
      $last_at = now();
      # The clock starts when the first chunk has arrived, so the bytes of that chunk do not count.
      if (defined $first_at) { $bytes += $got } else { $first_at = $last_at }
      if (length $message == $message_bytes) {
        $wrong++ if $message ne $messages[$count++ % @messages];
        $message = "";
      }
      next if $count % $read_every;
    }
    wait_for($socket);
    my $line = heard("sent") // next;
    ($expected) = $line =~ /^sent ([1-9][0-9]{0,11}) / or die "the other end sent an unexpected line\n";
  }
  say_line("received", $count, $bytes, nanoseconds($last_at - $first_at), $wrong);
}

sub measure {
  my $is_right = @ARGV == 3 && $role =~ /^(?:lead|follow)$/ && $seconds =~ /^[0-9]{1,2}(?:\.[0-9]+)?$/;
  die "wrong arguments\n" if !$is_right || $seconds < 0.01 || $seconds > 60;
  $deadline = now() + 3 * $seconds + 15;
  connect_ends();
  if ($role eq "lead") {
    measure_latency();
    send_stream();
    receive_stream();
  } else {
    answer();
    receive_stream();
    send_stream();
  }
  # The other end may still need this end until it reports that it is done.
  say_line("done");
  await("done");
}

$SIG{PIPE} = "IGNORE";
my @signals = qw(TERM INT HUP);
$SIG{$_} = sub { die "signal $_[0]\n" } for @signals;
my $is_measured = eval { measure(); 1 };
$SIG{$_} = "IGNORE" for @signals;
exit 0 if $is_measured;
syswrite STDOUT, "failed $@";
exit 1;
