# A double of Python with mlx and mlx-lm that acts as a single rank. The double is not a Python interpreter, but accepts
# the arguments, environment variables and files of an mlx rank. It is as strict as JACCL, fails with the same messages,
# and hangs in the same cases. It runs as `bin/python` in a venv that the uv double created.
#
#   python -u rank.py jaccl|ring|alone SIZE [option of mlx_lm.server]...
#   python -c 'a minimal program that uses the GPU'
#
# Rank 0 serves the OpenAI API on its port. It turns a question into a digest, which is passed to every rank and back;
# each rank mixes in the SHA-256 of its own model files. As in mlx_lm.server, /v1/models lists the models in a cache. If
# a rank is lost over JACCL, the other ranks log nothing, send no responses and ignore SIGTERM, but /health still
# returns 200. SIGUSR1 makes a rank hang in the same way. Since mlx-lm 0.32.0, a rank that loses its ring or cannot read
# its model logs the reason; rank 0 then returns 503 for /health and 404 for other requests, and the other ranks abort.
#
# MESHWRIGHT_CLOCK is the real length of one simulated second, in seconds.
use Errno qw(EINTR);

# A faster clock would not help, because processes on this machine need real time to start.
my $clock = $ENV{MESHWRIGHT_CLOCK} // 1;
$clock = 0.1 if $clock < 0.1;
my ($is_hung, $is_dead, $lost_at, @held, %heard) = (0, 0);
$SIG{USR1} = sub { $is_hung = 1; $lost_at = 0 };
# A rank that waits for a lost rank in a collective operation does not handle signals.
$SIG{TERM} = $SIG{INT} = sub { exit 0 unless defined $lost_at && Time::HiRes::time() - $lost_at > 2 };

my %takes = map { $_ => 1 } qw(--model --host --port --allowed-origins --log-level --chat-template --temp --top-p --top-k
    --min-p --max-tokens --chat-template-args --decode-concurrency --prompt-concurrency --prefill-step-size
    --prompt-cache-size --prompt-cache-bytes);
my %is_flag = map { $_ => 1 } qw(--pipeline --trust-remote-code --use-default-chat-template);

if (@ARGV == 2 && $ARGV[0] eq '-c') {
    $ARGV[1] eq 'import mlx.core as mx; print((mx.ones(1) + 1).item())'
        or raise('SyntaxError: this double supports only one program after -c');
    has_packages();
    print "2.0\n";
    exit 0;
}
my ($backend, $size, @words) = started_with(@ARGV);
my $logs_end = has_packages() !~ /^0[.]31[.]/;
my $rank = $backend eq 'alone' ? 0 : own_rank();
my ($group, $links) = $backend eq 'ring' ? ring() : $backend eq 'jaccl' ? jaccl() : (1, []);
if ($group != $size) {
    print STDERR "meshwright: group of $group ranks over $backend instead of $size\n";
    exit 1;
}
print "meshwright: group of $size ranks over ", ($backend eq 'alone' ? 'none' : $backend), "\n";
my %option = options(@words);
my @job;
serve();

# Exits like Python after an uncaught exception.
sub raise {
    my ($text) = @_;
    print STDERR "Traceback (most recent call last):\n$text\n";
    exit 1;
}

# Returns the arguments, with the server's own arguments last. The program file must exist, and the program must first
# request a strict group.
sub started_with {
    my ($flag, $file, @rest) = @_;
    $flag //= '';
    $flag eq '-u' or raise("Unknown option: $flag");
    open my $program, '<', $file // '' or do {
        print STDERR "python: can't open file '", $file // '', "': [Errno 2] No such file or directory\n";
        exit 2;
    };
    my $text = join '', <$program>;
    $text =~ /mx\.distributed\.init\(strict=True, backend=backend\).*group\.size\(\) != size.*server\.main\(\)/s
        or raise('SystemError: this file is not a rank program');
    my ($word, $count) = splice @rest, 0, 2;
    ($word // '') =~ /^(?:jaccl|ring|alone)$/ && ($count // '') =~ /^[1-9][0-9]?$/
        or raise('IndexError: list index out of range');
    return ($word, $count, @rest);
}

# Checks the packages in this program's venv, and returns the mlx-lm version.
sub has_packages {
    my ($venv) = $0 =~ m{^(.*)/bin/python[0-9.]*$} or raise("RuntimeError: $0 is not in a venv");
    open my $file, '<', "$venv/pyvenv.cfg" or raise("RuntimeError: $venv has no pyvenv.cfg");
    my ($home) = join('', <$file>) =~ /^home = (.*)$/m;
    # Python looks for its library only in the `home` folder.
    defined $home && glob("\"$home\"/python3.*") && -x glob("\"$home\"/python3.*") or
        raise("Fatal Python error: Failed to import encodings module");
    my @found;
    for my $name (qw(mlx mlx_lm)) {
        @found = glob "\"$venv\"/lib/python3.*/site-packages/$name-*.dist-info";
        @found == 1 or raise("ModuleNotFoundError: No module named '$name'");
    }
    return $found[0] =~ /mlx_lm-(.*)[.]dist-info$/ ? $1 : '';
}

sub own_rank {
    my $own = $ENV{MLX_RANK} // raise(q{KeyError: 'MLX_RANK'});
    # Unlike Python's int(), atoi(3) would accept any text.
    $own =~ /^[0-9]+$/ or raise("ValueError: invalid literal for int() with base 10: '$own'");
    return $own;
}

sub listener {
    my ($tag, $address) = @_;
    my $place = place_of($address) // raise("RuntimeError: $tag Couldn't bind socket (error: 49)");
    return IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 64, ReuseAddr => 1)
        // raise("RuntimeError: $tag Couldn't bind socket (error: 48)");
}

# Makes up to `$tries` attempts to connect. Waits 1, 2, 4… simulated seconds after failed attempts, even after the last
# one.
sub connected {
    my ($tag, $address, $tries) = @_;
    my $wait = 1000;
    for my $attempt (0 .. $tries - 1) {
        my $place = place_of($address);
        my $socket = defined $place && !is_denied($address) ? IO::Socket::INET->new(PeerAddr => $place, Proto => 'tcp', Timeout => 5) : undef;
        if (defined $socket) {
            $socket->autoflush(1);
            return $socket;
        }
        print STDERR "$tag Connection attempt $attempt waiting $wait ms\n";
        Time::HiRes::sleep($wait / 1000 * $clock);
        $wait *= 2;
    }
    raise("RuntimeError: $tag Couldn't connect (error: " . (is_denied($address) ? 65 : 61) . ')');
}

sub accepted {
    my ($listening) = @_;
    while (1) {
        my $socket = $listening->accept;
        if (defined $socket) {
            $socket->autoflush(1);
            return $socket;
        }
        $! == EINTR or raise("RuntimeError: [jaccl] Accept failed (error: 0)");
    }
}

# Reads at least one byte from another rank; returns 0 if the connection was closed.
sub take {
    my ($socket) = @_;
    while (1) {
        my $count = sysread $socket, $heard{$socket}, 65_536, length($heard{$socket} //= '');
        return $count if defined $count;
        return 0 if $! != EINTR;
    }
}

# Returns the next line from another rank; undefined if no complete line has arrived yet.
sub line_from {
    my ($socket) = @_;
    return undef unless defined $heard{$socket} && $heard{$socket} =~ s/\A(.*)\n//;
    return $1;
}

# Waits for one line from another rank. As in JACCL, the errno in the error message is stale.
sub hear {
    my ($socket) = @_;
    my $line;
    until (defined($line = line_from($socket))) {
        take($socket) or raise('RuntimeError: [jaccl] Recv failed with errno=2');
    }
    my $said = eval { $json->decode($line) };
    return ref $said eq 'HASH' ? $said : raise('RuntimeError: [jaccl] Recv failed with errno=2');
}

sub send_line {
    my ($socket, $value) = @_;
    print {$socket} $json->encode($value), "\n";
}

# Returns one row of device lists per rank. In the device file, null stands for no device, and a name stands for one
# device.
sub matrix {
    my $unset = 'RuntimeError: [jaccl] You need to provide via environment variables a rank (JACCL_RANK/MLX_RANK), a device '
        . 'file (JACCL_IBV_DEVICES/MLX_IBV_DEVICES) and a coordinator ip/port (JACCL_COORDINATOR/MLX_JACCL_COORDINATOR).';
    my ($path, $coordinator) = @ENV{qw(MLX_IBV_DEVICES MLX_JACCL_COORDINATOR)};
    raise($unset) unless defined $path && defined $coordinator;
    $coordinator =~ /^[0-9]+(?:\.[0-9]+){3}:[0-9]+$/ or raise("RuntimeError: Can't parse address $coordinator");
    my $rows = eval { $json->decode(read_text($path) // '') };
    ref $rows eq 'ARRAY' or raise('RuntimeError: [jaccl] The device file should start with an array');
    for my $row (@$rows) {
        ref $row eq 'ARRAY' or raise('RuntimeError: [jaccl] The device file should have an array of arrays');
        @$row == @$rows or raise('RuntimeError: [jaccl] The device file should contain the connectivity of each rank');
    }
    my @lists = map { [map { !defined $_ ? [] : ref $_ eq 'ARRAY' ? $_ : [$_] } @$_] } @$rows;
    my $is_ring = defined $ENV{MLX_JACCL_RING} && is_ring(\@lists) || !is_mesh(\@lists) && is_ring(\@lists);
    raise($unset) unless @lists > 1 && $rank < @lists && ($is_ring || is_mesh(\@lists));
    return (\@lists, $coordinator, $is_ring);
}

sub is_mesh {
    my ($lists) = @_;
    for my $row (0 .. $#$lists) {
        for my $column (0 .. $#$lists) {
            return 0 if ($row == $column) == (@{ $lists->[$row][$column] } > 0);
        }
    }
    return 1;
}

sub is_ring {
    my ($lists) = @_;
    my $count = @$lists;
    my $each = @{ $lists->[0][1 % $count] };
    for my $row (0 .. $count - 1) {
        return 0 if grep { @{ $lists->[$row][$_] } != $each } ($row + 1) % $count, ($row + $count - 1) % $count;
    }
    return $each > 0;
}

# Joins a group over JACCL: meets the other ranks at the coordinator, opens the devices that lead to each peer, and
# connects these devices to the peer's devices.
my $devices_of;
sub jaccl {
    my ($lists, $coordinator, $is_ring) = matrix();
    $devices_of = $lists;
    my $count = @$lists;
    my $sockets = $rank == 0 ? met($coordinator, $count) : [connected('[jaccl]', $coordinator, 4)];
    send_line($sockets->[0], { rank => $rank }) if $rank > 0;
    my @peers = grep { $_ != $rank && @{ $lists->[$rank][$_] } } 0 .. $count - 1;
    @peers = grep { $_ == ($rank + 1) % $count || $_ == ($rank + $count - 1) % $count } @peers if $is_ring;
    my %mine = map { $_ => [map { opened($_) } @{ $lists->[$rank][$_] }] } @peers;
    my $all = gathered($sockets, \%mine, $count);
    for my $peer (@peers) {
        compared($mine{$peer}, $all->[$peer]{$rank});
    }
    gathered($sockets, {}, $count);
    return ($count, $sockets);
}

sub met {
    my ($coordinator, $count) = @_;
    my $listening = listener('[jaccl]', $coordinator);
    my @sockets = map { accepted($listening) } 2 .. $count;
    my @by_rank;
    for my $socket (@sockets) {
        my $said = hear($socket)->{rank};
        defined $said && $said =~ /^[1-9][0-9]*$/ && $said < $count or raise('RuntimeError: [jaccl] Recv failed with errno=22');
        $by_rank[$said - 1] = $socket;
    }
    return \@by_rank;
}

my %has;
sub opened {
    my ($device) = @_;
    my $known = cables();
    my $one = $known->{$device}
        // raise("RuntimeError: [jaccl] Could not find device $device (" . keys(%$known) . ' available)');
    raise("RuntimeError: [jaccl] Couldn't allocate protection domain") if failing('alloc_pd') || $one->{state} ne 'active';
    my $spent = failing('create_qp');
    raise("RuntimeError: [jaccl] Creating the queue pair failed with 'Resource busy ($spent)'.") if $spent;
    $has{$device} += 1;
    say_devices(%has);
    return { device => $device, %$one };
}

# Returns the data of all ranks, by rank: rank 0 collects the data and sends it to the other ranks.
sub gathered {
    my ($sockets, $mine, $count) = @_;
    if ($rank > 0) {
        send_line($sockets->[0], { of => $mine });
        return hear($sockets->[0])->{all};
    }
    my @all = ($mine, map { hear($sockets->[$_ - 1])->{of} } 1 .. $count - 1);
    send_line($_, { all => \@all }) for @$sockets;
    return \@all;
}

# A queue pair reaches only the device at the other end of its cable. If that device is the wrong one, the queue pair
# never gets a response.
sub compared {
    my ($mine, $theirs) = @_;
    for my $at (0 .. $#$mine) {
        my ($own, $other) = ($mine->[$at], $theirs->[$at]);
        my $errno = failing('rtr') // (!$own->{is_usable} || ($other->{address} // '-') eq '-' ? 22 : undef);
        $errno //= 60 if ref $other ne 'HASH' || $own->{far} ne "$other->{mac} $other->{device}";
        raise("ValueError: [jaccl] Changing queue pair to RTR failed with errno $errno") if defined $errno;
    }
}

# The addresses of each rank. The hostfile is read only once, because `apply` writes the hostfile of the next start
# while this rank is still serving.
my $hosts;
sub hosts {
    return $hosts if defined $hosts;
    my $path = $ENV{MLX_HOSTFILE};
    raise('RuntimeError: [ring] You need to provide via environment variables both a rank (MLX_RANK) and a hostfile '
        . '(MLX_HOSTFILE)') unless defined $path;
    $hosts = eval { $json->decode(read_text($path) // '') };
    ref $hosts eq 'ARRAY' && !grep { ref $_ ne 'ARRAY' || !@$_ } @$hosts or raise('RuntimeError: parse error');
    return $hosts;
}

# Joins a ring over sockets: each rank first accepts a connection from the previous rank, and then connects to the next
# rank; the last rank does this in reverse order.
sub ring {
    my $hosts = hosts();
    my $count = @$hosts;
    raise('RuntimeError: [ring] Rank cannot be larger than the size of the group') if $rank >= $count;
    my ($before, $behind);
    my $accept = sub { $before = accepted(listener('[ring]', $hosts->[$rank][0])) };
    my $connect = sub { $behind = connected('[ring]', $hosts->[($rank + 1) % $count][0], 5) };
    my @order = $rank < $count - 1 ? ($accept, $connect) : ($connect, $accept);
    $_->() for @order;
    return ($count, [$behind, $before]);
}
