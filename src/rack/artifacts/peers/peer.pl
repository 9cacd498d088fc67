# Transfers a model's chunks between Macs, with only the core modules of macOS's perl (5.34). The program runs on every
# Mac that has or receives the model, under an account other than root. It runs until this Mac has every chunk and no
# other Mac needs chunks from this Mac.
#
# Arguments: a folder that contains the `plan` and `key` files and the `own` folder, to which the account can write; the
# model's folder; the folder with earlier files and the path of cp(1), both for `earlier I`; the path of ssh. Lines in
# `plan`:
#   name NODE             the name of this Mac
#   role receive|serve    serve: this Mac already has the model, or gets it from outside the exchange
#   mode mesh|chain       mesh: fetch from all peers in parallel; chain: fetch from the plan's first peer that is up
#   stripe I N            in a mesh, this Mac gets the chunks whose number modulo N is I from an origin
#   chunk BYTES, streams N
#   rate BYTES            the maximum number of bytes per second over each cable, in each direction; 0: no limit
#   listen ADDRESS PORT
#   peer NODE ADDRESS PORT origin|relay [ssh]   an origin does not get the model from a peer; ssh: see ssh.pl
#   wait FIRST LOST TURN  timeouts in seconds, used only by tests
#   feeds NODE            a Mac that gets chunks from this Mac
#   file BYTES PATH       one line per file, in order; a file that this Mac downloads grows as PATH.part, and is already
#                         served while it grows
# Files in `own`: `have` contains one byte per chunk, and `digests` contains 32 bytes per chunk; `durable` has the form
# of `have`, but lists only chunks that survive a power loss; `data/I` is a received file.
#
# Standard output, to root:
#   file I                file I is complete
#   progress BYTES NODE...   the number of received bytes, and the peers that sent chunks recently
#   drop NODE I ADDRESS   chunk I from this peer was wrong
#   full TEXT             a chunk could not be written
#   refused NODE WHY      printed before `stuck` for each Mac that SSH cannot reach
#   stuck TEXT            no other Mac that has the model responds
#   waiting HH:MM         the downloading Mac waits until this time; `waiting -----`: that Mac no longer waits
#   part I BYTES          the reply to `download I`: `data/I.part` contains this many bytes from the start of the file
#   serving BYTES NODE... after `finish`: the number of sent bytes, and the Macs that still need this Mac
#   peer NODE BYTES MS ADDRESS   printed at the end for each peer that sent chunks
# Standard input, from root; the program exits when the input is closed:
#   ok I                  file I is complete in the model's folder
#   earlier I             the folder with earlier files contains a version of file I that may be wrong
#   begin                 sent after the first `ok` and `earlier` lines; receiving starts only after this line
#   wrong I               the received file I is wrong
#   waits HH:MM           this Mac waits until this time before it downloads; `waits -----`: this Mac no longer waits
#   download I            root downloads file I from outside the exchange
#   finish                all files are complete
#
# Uses chunks.pl
# Uses ssh.pl
my (%in_flight, %source_of, %seen_at, %clients, %done, %strikes);
# `%wrong`: the state of each wrong file. `%suspect`: the chunks to compare. `%only`: for some chunks, the only peer
# that may send the chunk.
my (%wrong, %suspect, %only);
my ($is_finishing, $is_told_all, $began, $last_source, $had_source) = (0, 0, time, time, 0);
my ($report_out, $commands) = ("", "");
my ($sent_bytes, $told_serving, $serving_at) = (0, "", 0);
my ($report_read, $report_write);

sub start_worker {
  my ($at) = @_;
  socketpair my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die "socketpair: $!\n";
  my $pid = fork // die "fork: $!\n";
  if ($pid == 0) {
    close $ours;
    close $_->{socket} for @workers;
    close $_->{socket} for grep { $_->{socket} } @listen;
    open_files();
    fetch($peers[$at], $theirs);
    POSIX::_exit(0);
  }
  close $theirs;
  push @workers, { peer => $at, socket => $ours, pid => $pid, buffer => "", since => time, map => "" };
}

sub open_listeners {
  for my $one (grep { !$_->{socket} } @listen) {
    socket my $socket, PF_INET, SOCK_STREAM, 0 or next;
    setsockopt $socket, SOL_SOCKET, SO_REUSEADDR, 1;
    # A cable's address can appear later, or can disappear and come back.
    next if !bind($socket, pack_sockaddr_in($one->{port}, inet_aton($one->{address}))) || !listen($socket, 64);
    $one->{socket} = $socket;
  }
}

sub accept_client {
  my ($listener) = @_;
  accept my $socket, $listener or return;
  return close $socket if keys %clients > 200;
  my $pid = fork // return;
  if ($pid == 0) {
    close $_->{socket} for @workers;
    close $_->{socket} for grep { $_->{socket} } @listen;
    binmode $socket;
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
    open_files();
    serve($socket, $report_write);
    POSIX::_exit(0);
  }
  close $socket;
  $clients{$pid} = { name => undef };
}

# --- which chunk comes next ---

# In a chain, this Mac fetches from the first peer in the plan that is up, and turns to a later peer only after a grace
# period.
sub may_ask {
  my ($worker) = @_;
  return 0 if $peers[$worker->{peer}]{dropped};
  return 1 if $mode ne "chain";
  for my $at (0 .. $worker->{peer} - 1) {
    next if $peers[$at]{dropped};
    my @same = grep { $_->{peer} == $at } @workers;
    return 0 if grep { is_up($_) || time - $_->{since} < $grace } @same;
  }
  return 1;
}

sub next_chunk {
  my ($worker) = @_;
  my $may_ask = may_ask($worker);
  return if !$may_ask && !%only;
  my $peer = $peers[$worker->{peer}];
  my $map = $worker->{map};
  # A byte of the result is 1 if the peer has the chunk and this Mac does not.
  my $wanted = $map & ($have ^ "\1" x @chunks) & "\1" x @chunks;
  my $is_sharing = $mode eq "mesh" && $peer->{origin};
  my ($late, $now, @others) = (undef, time);
  for (my $i = index $wanted, "\1"; $i >= 0; $i = index $wanted, "\1", $i + 1) {
    next if $files[$chunks[$i][0]]{is_downloaded};
    next if defined $only{$i} ? $only{$i} != $worker->{peer} : !$may_ask;
    if (my $flight = $in_flight{$i}) {
      # A chunk that takes too long is also fetched from another peer.
      $late //= $i if $now - $flight->{at} > patience() && $flight->{peer} != $worker->{peer};
      next;
    }
    return $i if !$is_sharing || defined $only{$i} || $i % $stripes == $stripe;
    push @others, $i;
  }
  return take_over(@others) // $late;
}

# Once this Mac has all chunks of its own stripe, it takes over a chunk that another Mac was supposed to get from the
# origin. The chunks that the other Mac will fetch next are left to that Mac for a while. Later chunks can be taken over
# immediately, because a slow Mac would not reach them soon.
sub take_over {
  my @missing = grep { !at_relay($_) } @_;
  my ($now, $left, $chosen, $best, %count) = (time, 2);
  for my $i (@missing) {
    $seen_at{$i} //= $now;
    next if ++$count{ $i % $stripes } <= $left && $now - $seen_at{$i} < patience();
    # Each Mac that takes over chunks starts with different chunks and continues in a different order. Otherwise, two
    # Macs would fetch the same chunks, because each Mac learns too late which chunks the other Mac has.
    my $order = 65_536 * ((int($i / $stripes) - $stripe) % $stripes) + $i * 7_919 * (2 * $stripe + 1) % 65_536;
    ($chosen, $best) = ($i, $order) if !defined $chosen || $order < $best;
  }
  return $chosen;
}

my ($chunk_seconds, $chunk_count) = (0, 0);
sub patience {
  my $usual = $chunk_count ? 4 * $chunk_seconds / $chunk_count : 1;
  return $usual < 0.5 ? 0.5 : $usual;
}

sub at_relay {
  my ($i) = @_;
  for (@workers) { return 1 if !$peers[$_->{peer}]{origin} && is_up($_) && substr($_->{map}, $i, 1) eq "1" }
  return 0;
}

sub instruct {
  my ($worker) = @_;
  $worker->{is_waiting} = 0;
  my $reply = "wait";
  if ($is_finishing) { $reply = "done" if !$worker->{is_told}
  } elsif (defined(my $compared = next_suspect($worker))) {
    $suspect{$compared} = $worker->{pid};
    $reply = "compare $compared";
  } elsif (defined(my $i = next_chunk($worker))) {
    $in_flight{$i} = { peer => $worker->{peer}, pid => $worker->{pid}, at => time };
    $reply = "get $i";
  }
  syswrite $worker->{socket}, "$reply\n";
}

# A source is a Mac that gets the model from outside the exchange (even while waiting), a Mac that has a path to such a
# Mac, or a Mac that has a chunk that this Mac lacks.
sub note_source {
  my ($worker) = @_;
  return if !is_up($worker);
  return if !is_linked($worker) && ($worker->{map} & ($have ^ "\1" x @chunks)) !~ /1/;
  ($last_source, $had_source) = (time, 1);
}

# True if a Mac is no longer expected to send anything. A Mac that refuses the key is still expected, because every Mac
# refuses the key until its program has started.
sub is_lost {
  my ($peer) = @_;
  return 1 if $peer->{dropped};
  return $peer->{refused_at} && $peer->{refusal} !~ /Permission denied/ && time - $peer->{refused_at} > $lost;
}

# How long this Mac waits for a source.
sub most_wait {
  return 1 if !grep { !is_lost($_) } @peers;
  my $is_cut_off = grep { $_->{origin} && is_lost($_) } @peers;
  return ($had_source || $is_cut_off ? $lost : $first) + $turn * $stripe;
}

sub give_up {
  for my $peer (grep { $_->{refused_at} } @peers) { say_root("refused $peer->{name} $peer->{refusal}") }
  say_root("stuck no other Mac that has the model answers");
}

sub strike {
  my ($at, $i) = @_;
  my $peer = $peers[$at];
  return if $peer->{dropped};
  say_root("drop $peer->{name} $i $peer->{address}");
  $peer->{dropped} = 1 if ++$strikes{$at} >= $max_strikes;
}

sub leave_flight {
  my ($pid) = @_;
  delete $in_flight{$_} for grep { $in_flight{$_}{pid} == $pid } keys %in_flight;
  for (keys %suspect) { $suspect{$_} = 0 if $suspect{$_} == $pid }
}

sub hear_worker {
  my ($worker, $line) = @_;
  my ($what, $i, $value) = split " ", $line, 3;
  if ($what eq "map") {
    $worker->{map} = $i // "";
    @{$worker}{qw(hops until)} = split " ", $value // "99 $no_wait";
    note_source($worker);
    $peers[$worker->{peer}]{is_whole} = index($worker->{map}, "0") < 0;
    delete $peers[$worker->{peer}]{refused_at};
  } elsif ($what eq "next") { $worker->{is_waiting} = 1
  } elsif ($what eq "down") {
    $worker->{since} = time if $worker->{map} ne "";
    $worker->{map} = "";
    if (my ($refusal) = $line =~ /^down (.+)/) {
      $peers[$worker->{peer}]{refused_at} //= time;
      $peers[$worker->{peer}]{refusal} = $refusal;
    }
    leave_flight($worker->{pid});
    syswrite $worker->{socket}, "again\n";
  } elsif ($what eq "got") {
    delete $in_flight{$i};
    $peers[$worker->{peer}]{bytes} += $chunks[$i][2];
    $peers[$worker->{peer}]{ms} += $value;
    $peers[$worker->{peer}]{at} = time;
    return if substr($have, $i, 1) eq "1" || $files[$chunks[$i][0]]{is_downloaded};
    $source_of{$i} = $worker->{peer};
    $chunk_seconds += $value / 1000;
    $chunk_count++;
    set_have($i, "1");
    announce_file($chunks[$i][0]);
  } elsif ($what eq "bad") {
    delete $in_flight{$i};
    strike($worker->{peer}, $i);
  } elsif ($what eq "none") { delete $in_flight{$i}
  } elsif ($what eq "full") {
    say_root("full $value");
    delete $in_flight{$i};
  } elsif ($what eq "told") { $worker->{is_told} = 1
  } elsif ($what eq "compared") {
    delete $suspect{$i};
    ($last_source, $had_source) = (time, 1);
    my $case = $wrong{ $chunks[$i][0] } // return;
    replace_chunk($i, $case) if substr($have, $i, 1) eq "1" && unpack("H*", digest_of($i)) ne $value;
    end_comparison($chunks[$i][0]);
  }
}

# --- wrong files ---

# A file can be wrong although every chunk arrived exactly as it was sent; in that case, a peer has wrong bytes. All
# chunks are compared with those of one peer, and chunks that differ are fetched again from that peer. If the file is
# then correct, the peers that originally sent these chunks had wrong bytes; otherwise, the chunks are compared with
# those of the next peer. Origins are compared first. If an earlier version of a file is wrong and no peer is up yet,
# the comparison waits for the first peer that has the file.
my $no_judge = -1;
sub has_file {
  my ($worker, $n) = @_;
  my ($from, $to) = @{ $files[$n] }{qw(first last)};
  return substr($worker->{map}, $from, $to - $from + 1) !~ /0/;
}

sub suspect_file {
  my ($n) = @_;
  my $case = $wrong{$n} //= { asked => {} };
  my @own = $files[$n]{first} .. $files[$n]{last};
  my ($judge) = sort { !$peers[$a]{origin} <=> !$peers[$b]{origin} || $a <=> $b }
    grep { !$case->{asked}{$_} } map { $_->{peer} } grep { is_up($_) && has_file($_, $n) } @workers;
  delete @only{@own};
  @{$case}{qw(judge replaced)} = ($judge, {});
  if (defined $judge) {
    $case->{asked}{$judge} = 1;
    $suspect{$_} = 0 for @own;
  } elsif (!%{ $case->{asked} }) { $case->{judge} = $no_judge
  } else {
    delete $wrong{$n};
    delete @suspect{@own};
    for my $i (@own) { keep_digest($i, $no_digest); set_have($i, "0") }
    delete $announced{$n};
  }
}

# Returns the next chunk to compare with this peer's copy.
sub next_suspect {
  my ($worker) = @_;
  for my $n (keys %wrong) {
    next if $wrong{$n}{judge} != $worker->{peer};
    for my $i ($files[$n]{first} .. $files[$n]{last}) {
      return $i if defined $suspect{$i} && !$suspect{$i} && substr($worker->{map}, $i, 1) eq "1";
    }
  }
  return;
}

sub replace_chunk {
  my ($i, $case) = @_;
  $case->{replaced}{$i} = $source_of{$i};
  $only{$i} = $case->{judge};
  keep_digest($i, $no_digest);
  set_have($i, "0");
}

sub end_comparison {
  my ($n) = @_;
  my ($from, $to) = @{ $files[$n] }{qw(first last)};
  return if grep { exists $suspect{$_} } $from .. $to;
  return suspect_file($n) if substr($have, $from, $to - $from + 1) !~ /0/;
  delete $announced{$n};
}

sub acquit_file {
  my ($n) = @_;
  my $case = delete $wrong{$n} // return;
  my $replaced = $case->{replaced};
  for my $i (sort { $a <=> $b } keys %$replaced) { strike($replaced->{$i}, $i) if defined $replaced->{$i} }
}

# Chooses a different peer for each file whose comparison peer has disappeared.
sub replace_judges {
  for my $n (keys %wrong) {
    my $judge = $wrong{$n}{judge};
    suspect_file($n) if !grep { $_->{peer} == $judge && is_up($_) } @workers;
  }
}

sub hear_root {
  my ($what, $n) = split " ", $_[0];
  if ($what eq "finish") { $is_finishing = time
  } elsif ($what eq "waits") { $waits = $n
  } elsif ($what eq "ok") {
    # From now on, this file is served from the model's folder.
    set_have($_, "1") for $files[$n]{first} .. $files[$n]{last};
    unlink "$folder/own/data/$n";
    $announced{$n} = 1;
    acquit_file($n);
  } elsif ($what eq "wrong") { suspect_file($n)
  } elsif ($what eq "earlier") { begin_with($n)
  } elsif ($what eq "download") { leave_file($n)
  } elsif ($what eq "begin") {
    $is_told_all = 1;
    for my $at (0 .. $#peers) { start_worker($at) for 1 .. $streams }
  }
}

# Leaves a file to root's download. The chunks before the first missing chunk are kept as the beginning of the file.
sub leave_file {
  my ($n) = @_;
  my ($file, $bytes) = ($files[$n], 0);
  my @own = $file->{first} .. $file->{last};
  for my $i (@own) {
    last if $hidden{$i} || substr($have, $i, 1) eq "0";
    $bytes += $chunks[$i][2];
  }
  delete $wrong{$n};
  delete @suspect{@own};
  delete @only{@own};
  # Root does not read reports while it downloads, so further reports would fill the pipe and block this program.
  $is_downloading = $file->{is_downloaded} = 1;
  for my $i (@own) { set_have($i, "0"); keep_digest($i, $no_digest) }
  rename "$folder/own/data/$n", "$folder/own/data/$n.part" or $bytes = 0;
  say_root("part $n $bytes");
}

# True if the other Macs know that this Mac needs nothing more. A Mac that this Mac has never reached would take a long
# time to find out, so this Mac waits briefly for a connection to that Mac.
sub has_told {
  return 0 if grep { $_->{map} ne "" && !$_->{is_told} } @workers;
  return time - $is_finishing > $linger || !grep { !defined $_->{is_whole} && !is_lost($_) } map { $peers[$_->{peer}] } @workers;
}

# True if no other Mac needs chunks from this Mac anymore.
sub is_free {
  for my $name (@feeds) {
    next if $done{$name};
    return 0 if grep { ($_->{name} // "") eq $name } values %clients;
    # A Mac that had every chunk before it connected needs nothing from this Mac.
    next if grep { $_->{name} eq $name && $_->{is_whole} } @peers;
    my $left = $plan{left}{$name};
    return 0 if defined $left ? time - $left < $linger : time - $began < $first;
  }
  return 1;
}

# Reports every change, and regularly repeats the last report to show that this program is alive.
sub report_serving {
  my ($now) = @_;
  my %needs = map { $_->{name} => 1 } grep { defined $_->{name} && !$done{ $_->{name} } } values %clients;
  my $serving = join " ", "serving", $sent_bytes, sort keys %needs;
  return if $serving eq $told_serving && $now - $serving_at < 10;
  ($told_serving, $serving_at) = ($serving, $now);
  say_root($serving);
}

sub reap {
  while ((my $pid = waitpid -1, WNOHANG) > 0) {
    $sync_pid = 0 if $pid == $sync_pid;
    if (my $client = delete $clients{$pid}) {
      $plan{left}{ $client->{name} } = time if defined $client->{name};
      next;
    }
    my ($worker) = grep { $_->{pid} == $pid } @workers or next;
    leave_flight($pid);
    @workers = grep { $_->{pid} != $pid } @workers;
    start_worker($worker->{peer});
  }
}

sub take_lines {
  my ($buffer) = @_;
  my @lines;
  push @lines, $1 while $$buffer =~ s/^([^\n]*)\n//;
  return @lines;
}

sub run {
  $SIG{PIPE} = "IGNORE";
  $SIG{CHLD} = "DEFAULT";
  mkdir "$folder/own/data";
  open_files();
  truncate $have_file, 0;
  syswrite $have_file, $have;
  truncate $digest_file, 0 if $role eq "serve";
  pipe $report_read, $report_write or die "pipe: $!\n";
  if ($role eq "receive") {
    resume();
    announce_file($_) for 0 .. $#files;
  }
  my ($next_second, $next_look, $told_bytes) = (0, 0, -1);
  while (1) {
    my $now = time;
    if ($now >= $next_look) {
      $next_look = $now + 0.05;
      look_at_files();
    }
    if ($now >= $next_second) {
      $next_second = $now + 0.25;
      reap();
      open_listeners();
      flush() if $role eq "receive";
      replace_judges();
      note_state();
      if ($is_told_all && !$is_downloading && $done_bytes != $told_bytes) {
        my %from = map { $_->{name} => 1 } grep { $now - ($_->{at} // 0) < $recent } @peers;
        say_root(join " ", "progress", $done_bytes, sort keys %from);
        $told_bytes = $done_bytes;
      }
      report_serving($now) if $is_finishing;
      my $is_waiting = grep { $_->{judge} == $no_judge } values %wrong;
      $last_source = $now if ($have !~ /0/ && !$is_waiting) || $role eq "serve" || $is_downloading;
      if ($now - $last_source > most_wait()) { give_up(); $last_source = $now }
    }
    last if $is_finishing && has_told() && is_free();
    my $bits = "";
    vec($bits, fileno $_, 1) = 1 for \*STDIN, $report_read, map { $_->{socket} } @workers, grep { $_->{socket} } @listen;
    my $is_growing = index($have, "0") >= 0 && ($role eq "serve" || $is_downloading);
    my $count = select $bits, undef, undef, $is_growing ? 0.05 : 0.25;
    if ($count > 0) {
      if (vec $bits, fileno STDIN, 1) {
        last if !sysread STDIN, $commands, 65_536, length $commands;
        hear_root($_) for take_lines(\$commands);
      }
      if (vec $bits, fileno $report_read, 1) {
        sysread $report_read, $report_out, 65_536, length $report_out;
        for (take_lines(\$report_out)) {
          my ($what, $pid, $value) = split " ";
          if ($what eq "sent") { $sent_bytes += $value; next }
          $clients{$pid}{name} = $value;
          $done{$value} = 1 if $what eq "done";
        }
      }
      for (grep { $_->{socket} } @listen) { accept_client($_->{socket}) if vec $bits, fileno $_->{socket}, 1 }
      for my $worker (@workers) {
        next if !vec $bits, fileno $worker->{socket}, 1;
        if (!sysread $worker->{socket}, $worker->{buffer}, 1_048_576, length $worker->{buffer}) { reap(); last }
        hear_worker($worker, $_) for take_lines(\$worker->{buffer});
      }
    }
    instruct($_) for grep { $_->{is_waiting} } @workers;
  }
  for my $peer (@peers) { say_root("peer $peer->{name} $peer->{bytes} $peer->{ms} $peer->{address}") if $peer->{bytes} }
  kill "KILL", keys %clients, map { $_->{pid} } @workers;
}

run();
