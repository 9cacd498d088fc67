# The second part of `peer.pl` keeps this Mac's chunks and files, and reports to the other Macs.
#
# Uses connections.pl
my (@workers, %announced);
# Chunks that come from earlier versions of files. Other Macs get these chunks only after the whole file is verified.
my %hidden;
my ($is_dirty, $synced_at, $sync_pid, $done_bytes) = (0, time, 0, 0);
# `$is_downloading`: whether this Mac downloads the rest itself. `$waits`: the time until which this Mac waits.
# `$state`: the number of hops and the waiting time that the other Macs see. `$told_waits`: the waiting time that was
# last reported to root.
my ($is_downloading, $waits, $state, $told_waits) = (0, $no_wait, "", $no_wait);

# Each process opens the files itself, because processes must not share file positions.
sub open_files {
  sysopen $have_file, "$folder/own/have", O_RDWR | O_CREAT or die "$folder/own/have: $!\n";
  sysopen $digest_file, "$folder/own/digests", O_RDWR | O_CREAT or die "$folder/own/digests: $!\n";
  binmode $_ for $have_file, $digest_file;
}

sub set_have {
  my ($i, $value) = @_;
  my $before = substr $have, $i, 1, $value;
  return if !delete $hidden{$i} && $before eq $value;
  $done_bytes += ($value - $before) * $chunks[$i][2];
  sysseek $have_file, $i, SEEK_SET;
  syswrite $have_file, $value;
  $is_dirty = 1 if $value;
}

sub announce_file {
  my ($n) = @_;
  my ($from, $to) = @{ $files[$n] }{qw(first last)};
  return if $announced{$n} || substr($have, $from, $to - $from + 1) =~ /0/;
  if ($from > $to) { open my $empty, ">", "$folder/own/data/$n" or return }
  $announced{$n} = 1;
  say_root("file $n");
}

# Keeps chunks from an earlier run if they were flushed or if their bytes still match the recorded digest.
sub resume {
  my ($durable) = (lines("$folder/own/durable"))[0] // "";
  for my $i (0 .. $#chunks) {
    my $digest = digest_of($i);
    next if $digest eq $no_digest || !-e "$folder/own/data/$chunks[$i][0]";
    my $is_durable = length $durable == @chunks && substr($durable, $i, 1) eq "1";
    if ($is_durable || (hash_chunk($i) // "") eq $digest) { set_have($i, "1") } else { keep_digest($i, $no_digest) }
  }
}

# Starts from an earlier version of a file, so only the chunks that differ from a peer's copy are fetched. A partial
# file from an earlier run is kept, because some of its chunks have already been fetched.
sub begin_with {
  my ($n) = @_;
  my ($file, $data) = ($files[$n], "$folder/own/data/$n");
  if (!-e $data) {
    system($cp, "-c", "$earlier/$file->{path}", $data) == 0 or return unlink $data;
    chmod 0644, $data;
  }
  truncate $data, $file->{size} if -s $data > $file->{size};
  for my $i ($file->{first} .. $file->{last}) {
    next if substr($have, $i, 1) eq "1" || $chunks[$i][1] + $chunks[$i][2] > -s $data;
    $hidden{$i} = substr $have, $i, 1, "1";
    $done_bytes += $chunks[$i][2];
  }
  announce_file($n);
}

# Flushes the received chunks in a separate process, and then records that these chunks will survive a power loss.
sub flush {
  return if !$is_dirty || $sync_pid || time - $synced_at < 2;
  ($is_dirty, $synced_at) = (0, time);
  my $map = $have;
  $sync_pid = fork // return;
  return if $sync_pid;
  my $last;
  for my $n (0 .. $#files) {
    open my $file, "<", path_of($n) or next;
    $file->sync;
    $last = $file;
  }
  # On macOS, F_FULLFSYNC also flushes the drive's own cache.
  fcntl $last, 51, 0 if $last && $^O eq "darwin";
  if (open my $file, ">", "$folder/own/durable.new") {
    print {$file} "$map\n";
    $file->flush && $file->sync && close $file && rename "$folder/own/durable.new", "$folder/own/durable";
  }
  POSIX::_exit(0);
}

# Records what the model's folder currently contains: complete files, and the beginning of the file that is being
# downloaded.
sub look_at_files {
  for my $n (0 .. $#files) {
    my $file = $files[$n];
    next if $file->{is_whole} || ($role eq "receive" && !$file->{is_downloaded});
    my $path = "$served/$file->{path}";
    my $size = -s (-e $path ? $path : "$path.part") // 0;
    # A file that the controller sends grows under its final name.
    $file->{is_whole} = -e $path && $size >= $file->{size};
    $file->{seen} = $file->{first} if $size < ($file->{size_seen} // 0);
    $file->{size_seen} = $size;
    for my $i ($file->{seen} // $file->{first} .. $file->{last}) {
      my $is_there = $chunks[$i][1] + $chunks[$i][2] <= $size;
      $file->{seen} = $i;
      last if !$is_there && substr($have, $i, 1) eq "0";
      # The download restarted from the first byte.
      keep_digest($i, $no_digest) if !$is_there;
      set_have($i, $is_there ? "1" : "0");
    }
  }
}

# --- reports to the other Macs ---

sub is_up { my ($worker) = @_; return $worker->{map} ne "" && !$peers[$worker->{peer}]{dropped} }

# True if a Mac gets the model from outside the exchange, or has a path to a Mac that does.
sub is_linked { return $_[0]{hops} < $most_hops }

# Records the number of hops to the nearest Mac that gets the model from outside the exchange, and until when that Mac
# waits.
sub note_state {
  my ($hops, $until) = (0, $waits);
  if ($role eq "receive" && !$is_downloading) {
    my ($nearest) = sort { $a->{hops} <=> $b->{hops} } grep { is_up($_) } @workers;
    ($hops, $until) = $nearest && is_linked($nearest) ? ($nearest->{hops} + 1, $nearest->{until}) : (99, $no_wait);
    say_root("waiting $until") if $until ne $told_waits;
    $told_waits = $until;
  }
  my $now = sprintf "%02d%s", $hops, $until;
  return if $now eq $state;
  $state = $now;
  sysseek $have_file, @chunks, SEEK_SET;
  syswrite $have_file, $state;
}
