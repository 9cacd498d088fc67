# The double's mesh: a node's own data, its news from other nodes, the choice of the master, and the master's state.
# Every node sends all its data as one line to each node that it reaches, and gets no answer. JSON::PP would need a
# tenth of a core for that on every node.
use strict;
use warnings;
use MIME::Base64 qw(encode_base64 decode_base64);
use Storable qw(nfreeze thaw);

our ($json, $is_main, $namespace, $mesh_port, $clock, %option, %fault);

# A node that is silent for this many seconds counts as gone; in exo, the limit is 30 seconds.
my $silence = 5;
my ($told_at, $tried_at, $looked_at, $looked, $told_news, $sequence) = (0, 0, 0, '', '', 0);
my $id = $is_main ? random_hex(32) : '12D3KooW' . join '', map { substr 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789', rand 57, 1 } 1 .. 44;
# Node -> its latest news, and when they arrived.
my (%roster, %heard_at, %listener, %own);
# The session: its master, the number of its events, and the resulting state.
our %session = (master => '', index => 0, instances => {}, custom => {});
our @commands;
my (%handled, $number);

sub node_id { return $id }

sub mesh_listeners { return map { [$_, $listener{$_}] } sort keys %listener }

# Live nodes, in counting order.
sub alive {
    my $now = Time::HiRes::time();
    return grep { $_ eq $id || $now - ($heard_at{$_} // 0) < $silence } sort keys %roster;
}

sub told { return $roster{$_[0]} // {} }

sub is_master { return $session{master} eq $id }

# Queries the Mac with the same tools as exo, found by name in PATH. Unchanged output is not parsed again.
sub look_at_mac {
    my $seen = join '; echo =; ', 'ifconfig -a', 'networksetup -listallhardwareports', 'system_profiler SPThunderboltDataType -json',
        'rdma_ctl status', 'sysctl -n hw.memsize', 'hostname';
    $seen = qx(exec 2>/dev/null; $seen);
    return if $seen eq $looked;
    $looked = $seen;
    my ($interfaces, $ports, $thunderbolt, $rdma, $memory, $host) = split /^=\n/m, $seen;
    my (@addresses, @cables, %device);
    my $name = '';
    for my $line (split /\n/, $interfaces) {
        $name = $1 if $line =~ /^(\w+): /;
        push @addresses, { name => $name, ip => $1, mask => $2 } if $line =~ /^\tinet ([0-9.]+) netmask (0x[0-9a-f]+)/;
    }
    $device{$1} = $2 while $ports =~ /^Hardware Port: Thunderbolt (\d+)\nDevice: (\w+)$/mg;
    my $buses = eval { $json->decode($thunderbolt) } // {};
    for my $bus (@{ $buses->{SPThunderboltDataType} // [] }) {
        my $tag = $bus->{receptacle_1_tag} // next;
        my $port = $device{ $tag->{receptacle_id_key} } // next;
        my ($peer) = map { $_->{domain_uuid_key} // () } @{ $bus->{_items} // [] };
        push @cables, {
            device => $port, uuid => $bus->{domain_uuid_key}, peer => $peer,
            speed => defined $peer ? $tag->{current_speed_key} : '',
        };
    }
    %own = (
        addresses => [grep { $_->{ip} ne '127.0.0.1' } @addresses],
        cables => \@cables,
        memory => int($memory * 0.97),
        total => $memory + 0,
        rdma => $rdma =~ /^enabled/ ? 1 : 0,
        host => $host =~ s/[.\n].*//sr,
    );
}

sub listen_to_peers {
    return if !$mesh_port || exists $fault{alone};
    if (!defined $ENV{MESHWRIGHT_LINK_TABLE}) {
        my $all = $listener{'0.0.0.0'} // listen_at('', "0.0.0.0:$mesh_port");
        $listener{'0.0.0.0'} = $all if defined $all;
        return;
    }
    for my $address (map { $_->{ip} } @{ $own{addresses} // [] }) {
        next if $listener{$address};
        my $new = listen_at("$address:$mesh_port", '');
        $listener{$address} = $new if defined $new;
    }
}

# Possible addresses of other nodes: those in the table with this port, or the other end of each /30.
sub candidates {
    my %mine = map { $_->{ip} => 1 } @{ $own{addresses} // [] };
    if (defined $ENV{MESHWRIGHT_LINK_TABLE}) {
        my $table = read_text($ENV{MESHWRIGHT_LINK_TABLE}) // '';
        return grep { !$mine{$_} && $_ ne '127.0.0.1' } $table =~ /^([0-9.]+):$mesh_port /mg;
    }
    my @ends;
    for my $one (@{ $own{addresses} // [] }) {
        next if $one->{mask} ne '0xfffffffc';
        my @parts = split /\./, $one->{ip};
        push @ends, join '.', @parts[0 .. 2], $parts[3] ^ 3;
    }
    return @ends;
}

# Sends this node's news. Every few seconds, and while something happens, it tries all addresses, which shows where other
# nodes are reached; otherwise one address per node is enough.
sub tell_peers {
    return [] if exists $fault{alone};
    my $line = encode_base64(nfreeze({
        namespace => $namespace, from => $id, nodes => \%roster, session => \%session, commands => \@commands,
    }), '');
    my %reached = map { $_ => 1 } @{ $roster{$id}{reaches} };
    my @others = grep { $_ ne $id } alive();
    if (@others && is_settled() && Time::HiRes::time() - $tried_at < 5) {
        my @failed = grep { !send_line($line, grep { $reached{$_} } map { $_->{ip} } @{ told($_)->{addresses} }) } @others;
        return $roster{$id}{reaches} unless @failed;
    }
    $tried_at = Time::HiRes::time();
    return [grep { send_line($line, $_) } candidates()];
}

# Sends a line to the first of these addresses that is reached.
sub send_line {
    my ($line, @addresses) = @_;
    for my $address (@addresses) {
        log_denied($address), next if is_denied($address);
        my $place = place_of("$address:$mesh_port") // next;
        my $socket = IO::Socket::INET->new(PeerAddr => $place, PeerPort => $mesh_port, Proto => 'tcp', Timeout => 0.5) or next;
        return 1 if print {$socket} "$line\n";
    }
    return 0;
}

# The release logs each failed connection, here once per address; the main branch only at the level DEBUG.
my %is_logged;
sub log_denied {
    my ($address) = @_;
    return if $is_main || $is_logged{$address}++;
    log_record('INFO', "RUST: other event OutgoingConnectionError { error: Transport([(/ip4/$address/tcp/$mesh_port, "
        . 'Other(Os { code: 65, kind: HostUnreachable, message: "No route to host" }))]) }');
}

# On this machine, connections remain open after a cable was pulled.
sub hear_peer {
    my ($client, $address) = @_;
    my $line = <$client> // return;
    return if exists $fault{alone};
    return if defined $ENV{MESHWRIGHT_LINK_TABLE} && !defined place_of("$address:$mesh_port");
    return take_question($json->decode($line)) if $line =~ /^\{/;
    my $told = eval { thaw(decode_base64($line)) } // return;
    return if $told->{namespace} ne $namespace || $told->{from} eq $id;
    for my $node (keys %{ $told->{nodes} }) {
        my $news = $told->{nodes}{$node};
        next if $node eq $id || ($roster{$node} && $roster{$node}{sequence} >= $news->{sequence});
        $roster{$node} = $news;
        $heard_at{$node} = Time::HiRes::time();
    }
    my %known = map { $_->{id} => 1 } @commands;
    push @commands, grep { !$known{ $_->{id} } && !$handled{ $_->{id} } } @{ $told->{commands} };
    my $theirs = $told->{session};
    return if is_master() || $theirs->{master} ne $session{master};
    %session = %$theirs if $theirs->{index} > $session{index};
}

# Selects the forced node, otherwise the one with the lowest id. A new master starts a new session without any state.
sub elect {
    my @all = alive();
    my ($master) = ((grep { told($_)->{force} } @all), @all);
    my $is_over = is_master() && defined $fault{session} && defined $number && $fault{session} ne $number;
    $number = $fault{session} if defined $fault{session};
    return if $master eq $session{master} && !$is_over;
    log_record('INFO', $master eq $id ? 'Node elected Master' : "Node $master elected master");
    %session = (master => $master, index => 0, instances => {}, custom => {});
    @commands = ();
}

sub command {
    my ($kind, %more) = @_;
    my $name = uuid();
    push @commands, { id => $name, kind => $kind, from => $id, at => Time::HiRes::time(), %more };
    return $name;
}

# Counts an event of the session.
sub happened { $session{index} += 1 + int rand 3 }

sub carry_out {
    my $now = Time::HiRes::time();
    my @waiting;
    for my $one (@commands) {
        next if $handled{ $one->{id} };
        $one->{due} //= $now + (0.1 + rand 0.4) * $clock;
        if ($now < $one->{due}) { push @waiting, $one; next }
        $handled{ $one->{id} } = 1;
        carry_out_one($one);
        happened();
    }
    @commands = @waiting;
}

sub tick_mesh {
    my $now = Time::HiRes::time();
    # exo asks for addresses and RDMA every 10 s, for cables every 5 s, and for downloads every 60 s.
    my $is_looking = $now - $looked_at > 10;
    if ($is_looking) {
        look_at_mac();
        $looked_at = Time::HiRes::time();
    }
    listen_to_peers();
    my $reached = $roster{$id} ? $roster{$id}{reaches} : [];
    # News that other nodes are waiting for is sent immediately.
    my $news = join ' ', $session{master}, $session{index}, (map { $_->{id} } @commands), runner_states();
    my $is_new = $news ne $told_news;
    my $is_time = $now - $told_at > (is_settled() ? 2 : 0.3) || $is_new;
    $sequence += 1 if $is_time;
    $roster{$id} = {
        %own, sequence => $sequence, force => $option{'--force-master'} ? 1 : 0, reaches => $reached,
        runners => my_runners(), downloads => $is_looking || $is_new ? my_downloads() : $roster{$id}{downloads} // [],
    };
    elect();
    if (is_master()) {
        carry_out();
        drop_broken();
    } else {
        # Sent commands are up to the master; a command that was lost on the way is not sent again.
        @commands = grep { Time::HiRes::time() - $_->{at} < 3 } @commands;
    }
    return unless $is_time;
    ($told_at, $told_news) = ($now, $news);
    $roster{$id}{reaches} = tell_peers();
}

# Deletes instances with a node that is gone.
sub drop_broken {
    my %is_there = map { $_ => 1 } alive();
    for my $name (keys %{ $session{instances} }) {
        my ($instance) = values %{ $session{instances}{$name} };
        next unless grep { !$is_there{$_} } keys %{ $instance->{shardAssignments}{nodeToRunner} };
        my ($gone) = grep { !$is_there{$_} } keys %{ $instance->{shardAssignments}{nodeToRunner} };
        log_record('INFO', "Manually removing node $gone due to inactivity");
        delete $session{instances}{$name};
        happened();
    }
}

# Edges as in exo: `{from}{to}` -> connections over IP and RDMA.
sub connections {
    my (%ways, %owner);
    my @all = alive();
    for my $node (@all) {
        $owner{ $_->{uuid} } = [$node, $_] for @{ told($node)->{cables} // [] };
    }
    for my $node (@all) {
        my %reaches = map { $_ => 1 } @{ told($node)->{reaches} // [] };
        for my $other (grep { $_ ne $node } @all) {
            for my $one (grep { $reaches{ $_->{ip} } } @{ told($other)->{addresses} // [] }) {
                push @{ $ways{$node}{$other} }, { sinkMultiaddr => {
                    address => "/ip4/$one->{ip}/tcp/$option{'--api-port'}", address_type => 'ip4',
                    ip_address => $one->{ip}, port => $option{'--api-port'} + 0,
                } };
            }
        }
        for my $cable (grep { defined $_->{peer} && $owner{ $_->{peer} } } @{ told($node)->{cables} // [] }) {
            my ($other, $end) = @{ $owner{ $cable->{peer} } };
            # The release ignores the RDMA switch.
            next if $is_main && !(told($node)->{rdma} && told($other)->{rdma});
            push @{ $ways{$node}{$other} },
                { sourceRdmaIface => "rdma_$cable->{device}", sinkRdmaIface => "rdma_$end->{device}" };
        }
    }
    return \%ways;
}

1;
