# The first part of `peer.pl` reads the plan, accesses the files, and runs the processes at both ends of each
# connection. The header of `peer.pl` describes the whole program.
#
# A connection begins with a challenge from each side. Each side responds with an HMAC-SHA-256 of the challenge under
# the shared key, so responses cannot be replayed. The client then sends requests, and may send the next request before
# the previous response has fully arrived.
#   have       returns `have MAP HOPS UNTIL`: the server's chunks, its distance from a Mac that gets the model from
#              outside the exchange, and until when that Mac waits
#   news       returns the same response as `have`, but first waits briefly for a change
#   chunk I    returns `chunk BYTES`, the bytes and their SHA-256, or returns `none`
#   digest I   returns `digest SHA-256`
#   done       reports that the client has everything, and returns nothing
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use Errno qw(EINTR EAGAIN);
use Fcntl qw(:DEFAULT :seek);
use IO::Handle;
use POSIX qw(:sys_wait_h);
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(sleep time);

my ($folder, $served, $earlier, $cp, $ssh) = @ARGV;
my $piece = 1_048_576;
# If no bytes arrive for this long, the connection is closed and the chunk is fetched from another peer.
my $silent = 4;
# Requests go to a less preferred peer once the preferred peer has been down for this long.
my $grace = 1;
# How long to wait for a Mac whose connection was lost.
my $linger = 5;
# A Mac that sends no requests for this long is considered to be off.
my $absent = 60;
# After a peer has sent a chunk, it is listed as a source for this long.
my $recent = 10;
my $max_strikes = 3;
# The maximum number of hops between two Macs. Without this limit, two Macs could each treat the other as a path to a
# Mac that is gone.
my $most_hops = 30;
my $no_wait = "-----";
my $no_digest = "\0" x 32;

my (%plan, @listen, @peers, @feeds, @files);
for (lines("$folder/plan")) {
  my ($what, @words) = split " ";
  if ($what eq "file") {
    my ($size, $path) = /^file ([0-9]+) (.*)/ or die "plan: $_\n";
    push @files, { size => $size, path => $path };
  } elsif ($what eq "listen") { push @listen, { address => $words[0], port => $words[1] }
  } elsif ($what eq "peer") {
    push @peers, { name => $words[0], address => $words[1], port => $words[2], origin => $words[3] eq "origin", ssh => $words[4] };
  } elsif ($what eq "feeds") { push @feeds, @words
  } else { $plan{$what} = [@words] }
}
my ($self, $role, $mode) = map { $plan{$_}[0] } qw(name role mode);
# `$first`: how long to wait for a Mac that has not connected yet, or for the first source. `$lost`: how long to wait
# for a source if a source was available before or if SSH cannot reach an origin. Each Mac waits `$turn` longer than the
# Mac before it, because the earlier Mac may still deliver the missing chunks.
my ($first, $lost, $turn) = @{ $plan{wait} // [120, 20, 30] };
my ($stripe, $stripes) = @{ $plan{stripe} // [0, 1] };
my ($chunk_bytes, $streams, $rate) = ($plan{chunk}[0], $plan{streams}[0] // 1, $plan{rate}[0] // 0);

# All chunks in file order. Each chunk has a file number, an offset and a length.
my @chunks;
for my $n (0 .. $#files) {
  my $file = $files[$n];
  $file->{first} = @chunks;
  for (my $at = 0; $at < $file->{size}; $at += $chunk_bytes) {
    my $left = $file->{size} - $at;
    push @chunks, [$n, $at, $left < $chunk_bytes ? $left : $chunk_bytes];
  }
  $file->{last} = $#chunks;
}

# This Mac's chunk map, with one character (0 or 1) per chunk. In the `have` file, the map is followed by the number of
# hops and by the time until which the source waits, as in `0122:00`.
my $have = "0" x @chunks;
my $main = $$;
my ($have_file, $digest_file);

sub lines {
  open my $file, "<", $_[0] or return;
  my @lines = <$file>;
  chomp @lines;
  return @lines;
}

sub say_root { syswrite STDOUT, "@_\n" }

sub path_of {
  my ($n) = @_;
  my ($received, $path) = ("$folder/own/data/$n", "$served/$files[$n]{path}");
  return -e $received ? $received : $path if $role eq "receive";
  return -e $path ? $path : "$path.part";
}

sub digest_of {
  my ($i) = @_;
  sysseek $digest_file, 32 * $i, SEEK_SET;
  my $got = sysread $digest_file, my $digest, 32;
  return ($got // 0) == 32 ? $digest : $no_digest;
}

sub keep_digest {
  my ($i, $digest) = @_;
  sysseek $digest_file, 32 * $i, SEEK_SET;
  syswrite $digest_file, $digest;
}

# The SHA-256 of this Mac's copy of a chunk; undefined if the copy cannot be read.
sub hash_chunk {
  my ($n, $at, $length) = @{ $chunks[$_[0]] };
  open my $file, "<:raw", path_of($n) or return;
  sysseek $file, $at, SEEK_SET;
  my $sha = Digest::SHA->new(256);
  while ($length > 0) {
    my $got = sysread $file, my $bytes, $length < $piece ? $length : $piece or return;
    $sha->add($bytes);
    $length -= $got;
  }
  return $sha->digest;
}

# --- connections ---

# True if the other end sends bytes or closes the connection within this many seconds. Exits if the main process has
# exited.
sub ready {
  my ($socket, $seconds) = @_;
  my $end = time + $seconds;
  while ((my $left = $end - time) > 0) {
    # Check this in every iteration, because select never times out if the other end never pauses.
    exit 0 if $$ != $main && getppid != $main;
    vec(my $bits = "", fileno $socket, 1) = 1;
    return 1 if select($bits, undef, undef, $left < 1 ? $left : 1) > 0;
  }
  return 0;
}

# Received bytes that have not been processed yet, by the connection's file descriptor.
my %rest;

sub receive {
  my ($socket, $seconds) = @_;
  ready($socket, $seconds) or return;
  return sysread $socket, $rest{ fileno $socket }, $piece, length $rest{ fileno $socket };
}

# Returns the next line without its newline; undefined if the line arrives too late or is too long.
sub read_line {
  my ($socket, $seconds, $most) = @_;
  my $number = fileno $socket;
  $rest{$number} //= "";
  while ((my $end = index $rest{$number}, "\n") < 0) {
    return if length $rest{$number} > ($most // 100);
    receive($socket, $seconds) or return;
  }
  $rest{$number} =~ s/^([^\n]*)\n// or return;
  return $1;
}

# Reads at least one byte and at most `$most` bytes.
sub read_some {
  my ($socket, $most) = @_;
  my $number = fileno $socket;
  return substr $rest{$number}, 0, $most, "" if length $rest{$number};
  ready($socket, $silent) or return;
  my $bytes;
  return sysread($socket, $bytes, $most) ? $bytes : undef;
}

sub send_all {
  my ($socket, $bytes) = @_;
  my $at = 0;
  while ($at < length $bytes) {
    vec(my $bits = "", fileno $socket, 1) = 1;
    if (select(undef, $bits, undef, 1) < 1) {
      exit 0 if $$ != $main && getppid != $main;
      next;
    }
    my $sent = syswrite $socket, $bytes, length($bytes) - $at, $at;
    return if !defined $sent && $! != EINTR && $! != EAGAIN;
    $at += $sent // 0;
  }
  return 1;
}

# Limits a connection to its share of a cable's rate, given the start time and the number of bytes transferred since
# then.
sub pace {
  my ($began, $bytes) = @_;
  my $ahead = $rate ? $bytes * $streams / $rate - (time - $began) : 0;
  sleep $ahead if $ahead > 0;
}

sub nonce {
  open my $random, "<:raw", "/dev/urandom" or die "/dev/urandom: $!\n";
  sysread $random, my $bytes, 32;
  return unpack "H*", $bytes;
}

# The key of the newest run. The key is read again for each connection, so a Mac from an earlier run can join.
sub key { return (lines("$folder/key"))[0] // nonce() }

sub admit {
  my ($socket) = @_;
  my $challenge = nonce();
  send_all($socket, "meshwright 1 $challenge\n") or return;
  my ($name, $theirs, $proof) = split " ", read_line($socket, $silent, 400) // return;
  my $key = key();
  return if !defined $proof || $proof ne hmac_sha256_hex("client $name $challenge $theirs", $key);
  send_all($socket, hmac_sha256_hex("server $theirs $challenge", $key) . "\n") or return;
  return $name;
}

sub open_tcp {
  my ($peer) = @_;
  socket my $socket, PF_INET, SOCK_STREAM, 0 or return;
  my $to = pack_sockaddr_in($peer->{port}, inet_aton($peer->{address}));
  # A peer that is off never responds.
  my $is_open = eval {
    local $SIG{ALRM} = sub { die "late\n" };
    alarm 3;
    connect $socket, $to;
  };
  alarm 0;
  return if !$is_open;
  setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
  return $socket;
}

sub log_in {
  my ($peer) = @_;
  my $socket = ($peer->{ssh} ? open_ssh($peer) : open_tcp($peer)) // return;
  binmode $socket;
  $rest{ fileno $socket } = "";
  return $socket if is_trusted($socket, $peer->{ssh} ? 15 : $silent);
  hang_up($socket);
  return;
}

# True if the other end has the key. Skips anything that a login shell prints before the challenge.
sub is_trusted {
  my ($socket, $seconds) = @_;
  my $challenge;
  for (1 .. 20) {
    my $line = read_line($socket, $seconds, 400) // return;
    last if ($challenge) = $line =~ /^meshwright 1 ([0-9a-f]{64})$/;
  }
  my ($key, $mine) = (key(), nonce());
  return if !defined $challenge;
  send_all($socket, "$self $mine " . hmac_sha256_hex("client $self $challenge $mine", $key) . "\n") or return;
  my $proof = read_line($socket, $seconds) // return;
  return $proof eq hmac_sha256_hex("server $mine $challenge", $key);
}

# --- serving: one process for each connection ---

sub read_have {
  sysseek $have_file, 0, SEEK_SET;
  sysread $have_file, my $map, scalar @chunks;
  return $map // "";
}

sub read_state {
  sysseek $have_file, @chunks, SEEK_SET;
  sysread $have_file, my $state, 7;
  return ($state // "") =~ /^([0-9]{2})([-0-9:]{5})$/ ? "$1 $2" : "99 $no_wait";
}

sub serve {
  my ($socket, $report) = @_;
  my $name = admit($socket) // return;
  syswrite $report, "client $$ $name\n";
  my $told = "";
  while (defined(my $line = read_line($socket, $absent))) {
    my ($what, $i) = split " ", $line;
    return if !defined $what || (defined $i && ($i !~ /^[0-9]{1,9}$/ || $i > $#chunks));
    if ($what eq "have" || $what eq "news") {
      my $until = time + ($what eq "news" ? 0.25 : 0);
      my $map = read_have() . " " . read_state();
      while ($map eq $told && time < $until) { sleep 0.02; $map = read_have() . " " . read_state() }
      $told = $map;
      send_all($socket, "have $map\n") or return;
    } elsif ($what eq "chunk") {
      send_chunk($socket, $i) or return;
      syswrite $report, "sent $$ $chunks[$i][2]\n";
    } elsif ($what eq "digest") {
      my $digest = digest_of($i);
      if ($digest eq $no_digest) { $digest = hash_chunk($i) // $no_digest; keep_digest($i, $digest) }
      send_all($socket, "digest " . unpack("H*", $digest) . "\n") or return;
    } elsif ($what eq "done") { syswrite $report, "done $$ $name\n"
    } else { return }
  }
}

sub send_chunk {
  my ($socket, $i) = @_;
  my ($n, $at, $length) = @{ $chunks[$i] };
  my $file;
  if (substr(read_have(), $i, 1) ne "1" || !open $file, "<:raw", path_of($n)) { return send_all($socket, "none\n") }
  send_all($socket, "chunk $length\n") or return;
  sysseek $file, $at, SEEK_SET;
  my $digest = digest_of($i);
  my $sha = $digest eq $no_digest ? Digest::SHA->new(256) : undef;
  my ($began, $sent) = (time, 0);
  while ($length > 0) {
    my $got = sysread $file, my $bytes, $length < $piece ? $length : $piece or return;
    $sha->add($bytes) if $sha;
    send_all($socket, $bytes) or return;
    $length -= $got;
    pace($began, $sent += $got);
  }
  if ($sha) { $digest = $sha->digest; keep_digest($i, $digest) }
  return send_all($socket, unpack("H*", $digest) . "\n");
}

# --- fetching: one process for each connection, which asks the main process for the next chunk ---

sub fetch {
  my ($peer, $control) = @_;
  my $pause = 0.25;
  while (1) {
    my $refusal = "";
    if (my $socket = log_in($peer)) {
      $pause = 0.25;
      talk($socket, $control);
      hang_up($socket);
    } elsif ($peer->{ssh}) { $refusal = refusal() }
    syswrite $control, "down $refusal\n";
    read_line($control, 3600) // exit 0;
    # Only the exit of the main process interrupts this pause.
    exit 0 if ready($control, $pause);
    $pause *= 2 if $pause < 2;
  }
}

sub talk {
  my ($socket, $control) = @_;
  send_all($socket, "have\n") or return;
  my $map = read_map($socket) // return;
  my $next = ask_main($socket, $control, $map) // return;
  while (1) {
    my ($what, $i) = @$next;
    my $report = "";
    undef $next;
    if ($what eq "get") {
      $map = read_map($socket) // return;
      my $line = read_line($socket, $silent) // return;
      if ($line eq "none") { $report = "none $i\n"
      } else {
        return if $line ne "chunk $chunks[$i][2]";
        # Send the next request while these bytes arrive, so the cable is not idle between chunks.
        $next = ask_main($socket, $control, $map) // return;
        $report = take_chunk($socket, $i) // return;
      }
    } elsif ($what eq "compare") {
      my ($digest) = (read_line($socket, 60, 80) // return) =~ /^digest ([0-9a-f]{64})$/ or return;
      # A chunk from an earlier version of a file has not been hashed yet.
      keep_digest($i, hash_chunk($i) // $no_digest) if digest_of($i) eq $no_digest;
      $report = "compared $i $digest\n";
    } elsif ($what eq "done") { $report = "told\n"
    } else { $map = read_map($socket) // return }
    syswrite $control, $report;
    return if $report =~ /^full/;
    $next //= ask_main($socket, $control, $map) // return;
  }
}

sub read_map {
  my ($socket) = @_;
  my ($map, $state) = (read_line($socket, $silent, 16 + @chunks) // return) =~ /^have ([01]*) ([0-9]{2} [-0-9:]{5})$/ or return;
  return length $map == @chunks ? "$map $state" : undef;
}

# Gets the next command from the main process, and sends the matching request to the peer.
my %requests = (get => "have\nchunk", compare => "digest", done => "done", wait => "news");
sub ask_main {
  my ($socket, $control, $map) = @_;
  syswrite $control, "map $map\nnext\n";
  my ($what, @number) = split " ", read_line($control, 3600) // exit 0;
  return send_all($socket, "@{[$requests{$what}, @number]}\n") ? [$what, @number] : undef;
}

sub take_chunk {
  my ($socket, $i) = @_;
  my ($n, $at, $length) = @{ $chunks[$i] };
  my $began = time;
  sysopen my $file, "$folder/own/data/$n", O_WRONLY | O_CREAT, 0644 or return full($i);
  binmode $file;
  sysseek $file, $at, SEEK_SET;
  my $sha = Digest::SHA->new(256);
  for (my $left = $length; $left > 0;) {
    my $bytes = read_some($socket, $left < $piece ? $left : $piece) // return;
    $sha->add($bytes);
    $left -= length $bytes;
    for (my $done = 0; $done < length $bytes;) {
      my $wrote = syswrite $file, $bytes, length($bytes) - $done, $done;
      return full($i) if !$wrote;
      $done += $wrote;
    }
    pace($began, $length - $left);
  }
  my $theirs = read_line($socket, 60, 70) // return;
  my $digest = $sha->digest;
  return "bad $i\n" if $theirs ne unpack "H*", $digest;
  keep_digest($i, $digest);
  return "got $i " . int(1000 * (time - $began)) . "\n";
}

# After this report, the connection must be closed, because the rest of the chunk is still in transit.
sub full { return "full $_[0] $!\n" }
