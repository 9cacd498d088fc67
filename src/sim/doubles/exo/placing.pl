# The double's models, placements and runners: the available cards, the possible placements, and the progress of this
# node's runners.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);

our ($json, $is_main, $is_offline, $exo_home, $clock, %fault, %session, @commands);

# The cards in exo that tests request.
my @built_in = (
    ['mlx-community/Llama-3.2-1B-Instruct-4bit', 729808896, 16, 2048, 8],
    ['mlx-community/Kimi-K2-Thinking', 706522120192, 61, 7168, 64],
    ['mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit', 268435456000, 94, 4096, 4],
);
# Runner -> its progress, for the instances that include this node.
my %mine;
my @order = qw(Idle Connecting Connected Loading Loaded WarmingUp Ready Running);
my %place_in_order = map { $order[$_] => $_ } 0 .. $#order;

sub true { return JSON::PP::true() }
sub false { return JSON::PP::false() }

sub card {
    my ($model, $bytes, $layers, $hidden, $heads, $is_custom) = @_;
    return {
        modelId => $model, storageSize => { inBytes => $bytes + 0 }, nLayers => $layers + 0, hiddenSize => $hidden + 0,
        supportsTensor => true(), numKeyValueHeads => $heads + 0, tasks => ['TextGeneration'], components => undef,
        family => '', quantization => '', baseModel => '', capabilities => ['text'], contextLength => 131072,
        usesCfg => false(), trustRemoteCode => $is_custom ? false() : true(),
        isCustom => $is_custom ? true() : false(), vision => undef,
        $is_main
            ? (
                backends => [qw(MlxMetal MlxCuda MlxCpu)], reasoningDialect => 'none',
                samplingDefaults => {
                    map { $_ => undef }
                        qw(temperature topP topK minP repetitionPenalty presencePenalty frequencyPenalty thinking nonThinking)
                },
            )
            : (),
    };
}

sub cards {
    return { (map { $_->[0] => card(@$_) } @built_in), %{ $session{custom} } };
}

# A model's folder on this Mac, if its index and all files in the index exist.
sub model_folder {
    my ($model) = @_;
    my $name = $model =~ s{/}{--}gr;
    for my $root (split(/:/, $ENV{EXO_MODELS_READ_ONLY_DIRS} // ''), "$exo_home/models") {
        my $index = eval { $json->decode(read_text("$root/$name/model.safetensors.index.json")) } // next;
        my %files = map { $_ => 1 } values %{ $index->{weight_map} // {} };
        return "$root/$name" if %files && !grep { !-f "$root/$name/$_" } keys %files;
    }
    return undef;
}

# A card from the model's own files, or exo's error if it would have to download them.
sub card_from_files {
    my ($model) = @_;
    my $name = $model =~ s{/}{--}gr;
    for my $root (split(/:/, $ENV{EXO_MODELS_READ_ONLY_DIRS} // ''), "$exo_home/models") {
        my $config = eval { $json->decode(read_text("$root/$name/config.json")) } // next;
        my $index = eval { $json->decode(read_text("$root/$name/model.safetensors.index.json")) } // next;
        my $bytes = $index->{metadata}{total_size} // next;
        return card($model, $bytes, @$config{qw(num_hidden_layers hidden_size num_key_value_heads)}, 1);
    }
    return undef;
}

# Searches for an order of the nodes, with a fixed first node, that is a ring of connections in both directions.
sub is_ring {
    my ($ways, $path, @rest) = @_;
    my $is_joined = sub { $ways->{ $_[0] }{ $_[1] } && $ways->{ $_[1] }{ $_[0] } };
    return $is_joined->($path->[-1], $path->[0]) if !@rest;
    for my $at (0 .. $#rest) {
        next unless $is_joined->($path->[-1], $rest[$at]);
        return 1 if is_ring($ways, [@$path, $rest[$at]], @rest[0 .. $at - 1, $at + 1 .. $#rest]);
    }
    return 0;
}

sub subsets {
    my ($first, @rest) = @_;
    return ([]) unless defined $first;
    my @others = subsets(@rest);
    return (@others, map { [$first, @$_] } @others);
}

sub has_rdma {
    my ($ways, @nodes) = @_;
    for my $from (@nodes) {
        for my $to (grep { $_ ne $from } @nodes) {
            return 0 unless grep { $_->{sourceRdmaIface} } @{ $ways->{$from}{$to} // [] };
        }
    }
    return 1;
}

# An instance, or the text of a refusal.
sub place {
    my ($card, $sharding, $meta, $least, @wanted) = @_;
    my $ways = connections();
    my @sets = grep { my %has = map { $_ => 1 } @$_; @$_ >= $least && !grep { !$has{$_} } @wanted } subsets(alive());
    @sets = grep { @$_ == 1 || is_ring($ways, [$_->[0]], @$_[1 .. $#$_]) } grep { @$_ } @sets;
    my $bytes = $card->{storageSize}{inBytes};
    @sets = grep { my $sum = 0; $sum += told($_)->{memory} // 0 for @$_; $sum >= $bytes } @sets;
    return 'No cycles found with sufficient memory' unless @sets;
    if ($sharding eq 'Tensor') {
        @sets = grep { $card->{hiddenSize} % @$_ == 0 && $card->{numKeyValueHeads} % @$_ == 0 } @sets;
        return 'No tensor sharding found for model with the requested nodes' unless @sets;
    }
    my ($size) = sort { $a <=> $b } map { scalar @$_ } @sets;
    @sets = grep { @$_ == $size } @sets;
    if ($meta eq 'MlxJaccl' && $size > 1) {
        @sets = grep { has_rdma($ways, @$_) } @sets;
        return 'Requested RDMA (MlxJaccl) but no RDMA-connected cycles available' unless @sets;
    }
    # A single node always gets a pipeline over a ring, whatever was requested.
    ($sharding, $meta) = ('Pipeline', 'MlxRing') if $size == 1;
    return instance($card, $sharding, $meta, $ways, @{ $sets[0] });
}

sub instance {
    my ($card, $sharding, $meta, $ways, @nodes) = @_;
    my %runner = map { $_ => uuid() } @nodes;
    my $port = 49153 + int rand 16000;
    my ($layers, $size, %shard) = ($card->{nLayers}, scalar @nodes);
    for my $rank (0 .. $#nodes) {
        my @part = $sharding eq 'Tensor' ? (0, $layers) : map { int $layers * $_ / $size } $rank, $rank + 1;
        $shard{ $runner{ $nodes[$rank] } } = { "${sharding}ShardMetadata" => {
            modelCard => $card, deviceRank => $rank, worldSize => $size, immediateException => false(),
            shouldTimeout => undef, startLayer => $part[0], endLayer => $part[1], nLayers => $layers,
        } };
    }
    my %more = $meta eq 'MlxJaccl' ? rdma_parts($ways, $port, @nodes) : ring_parts($ways, $port, @nodes);
    return { "${meta}Instance" => {
        instanceId => uuid(), %more,
        shardAssignments => { modelId => $card->{modelId}, runnerToShard => \%shard, nodeToRunner => \%runner },
    } };
}

sub address_of {
    my ($node) = @_;
    return (map { $_->{ip} } @{ told($node)->{addresses} // [] })[0] // '198.51.100.1';
}

sub rdma_parts {
    my ($ways, $port, @nodes) = @_;
    my @devices = map { my $from = $_; [map {
        my $to = $_;
        (map { $_->{sourceRdmaIface} // () } $from eq $to ? () : @{ $ways->{$from}{$to} // [] })[0];
    } @nodes] } @nodes;
    my %meet = map { $_ => ($_ eq $nodes[0] ? '0.0.0.0' : address_of($nodes[0])) . ":$port" } @nodes;
    return (jacclDevices => \@devices, jacclCoordinators => \%meet);
}

# Addresses at which one node reaches another, Thunderbolt first (`find_ip_prioritised` of exo, ring=True).
sub reached_at {
    my ($ways, $from, $to) = @_;
    my %is_cable = map { $_->{device} => 1 } @{ told($to)->{cables} // [] };
    my %rank = map { $_->{ip} => $is_cable{ $_->{name} } ? 0 : 1 } @{ told($to)->{addresses} // [] };
    my @reached = map { $_->{sinkMultiaddr}{ip_address} // () } @{ $ways->{$from}{$to} // [] };
    return sort { ($rank{$a} // 1) <=> ($rank{$b} // 1) } @reached;
}

# Neighbors get an address at which they were reached, the node itself gets 0.0.0.0, other nodes get port 0.
sub ring_parts {
    my ($ways, $port, @nodes) = @_;
    my %hosts;
    for my $rank (0 .. $#nodes) {
        $hosts{ $nodes[$rank] } = [map {
            my $hops = abs $rank - $_;
            my ($reached) = reached_at($ways, $nodes[$rank], $nodes[$_]);
            $hops == 0 ? { ip => '0.0.0.0', port => $port }
                : $hops == 1 || $hops == $#nodes ? { ip => $reached // '198.51.100.1', port => $port }
                : { ip => '198.51.100.1', port => 0 };
        } 0 .. $#nodes];
    }
    return (hostsByNode => \%hosts, ephemeralPort => $port);
}

# Executes a command on the master.
sub carry_out_one {
    my ($one) = @_;
    my $all = $session{instances};
    if ($one->{kind} eq 'delete') { delete $all->{ $one->{name} } }
    elsif ($one->{kind} eq 'card') { $session{custom}{ $one->{card}{modelId} } = $one->{card} }
    elsif (exists $fault{'refuse-placement'}) { log_record('WARNING', 'Error in command processor') }
    elsif ($one->{kind} eq 'create') { $all->{ (values %{ $one->{instance} })[0]{instanceId} } = $one->{instance} }
    else {
        my $card = cards()->{ $one->{model} };
        my $made = place($card, @$one{qw(sharding meta least)});
        if (ref $made) { $all->{ (values %$made)[0]{instanceId} } = $made }
        else { log_record('WARNING', "Error in command processor\nTraceback (most recent call last):\nValueError: $made") }
    }
}

# Whether nothing is in progress here: no command waits, and every runner of this node is ready.
sub is_settled { return !@commands && !grep { ($_->{state} // '') !~ /^(?:Ready|Running)$/ } values %mine }

sub runner_states { return map { "$_ $mine{$_}{state}" } sort keys %mine }

sub my_runners { return { map { $_ => $mine{$_}{shown} } keys %mine } }

# The models of this node's instances, with their folders if their files exist.
sub my_downloads {
    my %models = map { $_->{model} => $_ } values %mine;
    return [map { { model => $_, folder => model_folder($_), card => $models{$_}{card} } } sort keys %models];
}

sub tick_placing {
    my %named;
    for my $tagged (values %{ $session{instances} }) {
        my ($tag, $instance) = %$tagged;
        my $name = $instance->{shardAssignments}{nodeToRunner}{ node_id() } // next;
        $named{$name} = 1;
        my ($kind, $shard) = %{ $instance->{shardAssignments}{runnerToShard}{$name} };
        $mine{$name} //= {
            tag => $tag, kind => $kind, instance => $instance, shard => $shard, card => $shard->{modelCard}, tries => 0,
            model => $instance->{shardAssignments}{modelId},
        };
        advance($name, $mine{$name});
    }
    for my $name (grep { !$named{$_} } keys %mine) {
        my $runner = $mine{$name};
        enter($runner, 'ShuttingDown') if $runner->{state} ne 'ShuttingDown';
        next if exists $fault{'stuck-shutdown'} || Time::HiRes::time() - $runner->{since} < 0.4 * $clock;
        delete $mine{$name};
        log_record('INFO', 'Runner exited with exit code 0');
    }
    hold_devices();
}

# Writes the devices of this node's connected RDMA runners into the file that the simulated kernel reads.
my $held = '';
sub hold_devices {
    my @over = grep { $_->{tag} eq 'MlxJacclInstance' && ($_->{state} // '') =~ /^(?:Connected|Load|Warming|Ready|Running)/ } values %mine;
    my %has;
    for my $runner (@over) {
        my $row = $runner->{instance}{jacclDevices}[$runner->{shard}{deviceRank}] // [];
        $has{$_} += 1 for grep { defined } @$row;
    }
    my $text = join ' ', map { "$_ $has{$_}" } sort keys %has;
    say_devices(%has) if $text ne $held;
    $held = $text;
}

# Log lines about this node's runners if exo's process must exit before they have.
sub cut_runners { return map { ($is_main ? 'Child' : 'Runner') . " process didn't respond to SIGTERM, killing" } sort keys %mine }

sub enter {
    my ($runner, $state, %more) = @_;
    $runner->{state} = $state;
    $runner->{since} = Time::HiRes::time();
    $runner->{shown} = { "Runner$state" => \%more };
}

sub be_ready { enter($_[0], 'Ready', $is_main ? (prefillServerPort => undef) : ()) }

# Whether all runners of the same instance have reached this state.
sub all_reached {
    my ($runner, $state) = @_;
    my $names = $runner->{instance}{shardAssignments}{nodeToRunner};
    for my $node (keys %$names) {
        my ($tag) = keys %{ told($node)->{runners}{ $names->{$node} } // {} };
        my $at = $place_in_order{ ($tag // '') =~ s/^Runner//r } // -1;
        return 0 if $at < $place_in_order{$state};
    }
    return 1;
}

sub fail_runner {
    my ($runner, $message) = @_;
    my $name = $runner->{instance}{shardAssignments}{nodeToRunner}{ node_id() };
    my $text = "Terminated (exitcode=1\nRunner error: $message\n)";
    log_record('WARNING', "Runner $name crashed with critical exception $message");
    enter($runner, 'Failed', errorMessage => $text, $is_main ? (diagnostics => []) : ());
}

# The error if this rank cannot use RDMA: no protection domain is left, or a device has no GID from which mlx sends.
sub rdma_problem {
    my ($runner) = @_;
    my $errno = failing('alloc_pd');
    return "[jaccl] Couldn't allocate protection domain (errno $errno)" if defined $errno;
    $errno = failing('rtr');
    return "ValueError: [jaccl] Changing queue pair to RTR failed with errno $errno" if defined $errno;
    my $row = $runner->{instance}{jacclDevices}[$runner->{shard}{deviceRank}] // [];
    my %has = map { $_->{name} => 1 } @{ told(node_id())->{addresses} // [] };
    my $known = cables();
    for my $device (grep { defined } @$row) {
        my $name = $device =~ s/^rdma_//r;
        next if $has{$name} && ($known->{$device}{is_usable} // 1);
        return "ValueError: [jaccl] Changing queue pair to RTR failed with errno 22";
    }
    # The far end does not answer.
    return is_through($runner) ? undef : 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 60';
}

# The ranks next to a runner's in its ring.
sub neighbors {
    my ($rank, $size) = @{ $_[0]{shard} }{qw(deviceRank worldSize)};
    return $size == 1 ? () : (($rank + 1) % $size, ($rank + $size - 1) % $size);
}

# Whether the cables of an RDMA runner carry: those to all ranks with tensor sharding, otherwise those to its neighbors.
sub is_through {
    my ($runner) = @_;
    my $row = $runner->{instance}{jacclDevices}[$runner->{shard}{deviceRank}] // return 1;
    my @used = grep { defined } $runner->{kind} eq 'TensorShardMetadata' ? @$row : @$row[neighbors($runner)];
    my $known = cables();
    return !grep { ($known->{$_}{far} // '') eq '- -' } @used;
}

# Passes a question from runner to runner, round to rank 0, and back to the node that was asked. Each runner mixes in
# the index of its own model. Where a cable carries nothing, the question is lost and the runner remains busy.
sub take_question {
    my ($said) = @_;
    return answer_question(@$said{qw(question digest)}) if $said->{is_back};
    my $tagged = $session{instances}{ $said->{instance} } // return;
    my ($instance) = values %$tagged;
    my $assigned = $instance->{shardAssignments};
    my $runner = $mine{ $assigned->{nodeToRunner}{ node_id() } // '' } // return;
    return if ($runner->{state} // '') !~ /^(?:Ready|Running)$/;
    enter($runner, 'Running');
    my $size = keys %{ $assigned->{nodeToRunner} };
    say_tcp() if $size > 1 && $instance->{hostsByNode};
    return if exists $fault{'hang-runner'} || !is_through($runner);
    if ($said->{hop} < $size) {
        my $index = read_text((model_folder($runner->{model}) // return) . '/model.safetensors.index.json');
        $said->{digest} = sha256_hex("$index$said->{digest}");
    }
    $said->{is_back} = $said->{hop} == ($size > 1 ? $size : 0);
    $said->{hop} += 1;
    send_question($said);
    be_ready($runner) if $runner->{shard}{deviceRank} > 0 || $said->{is_back};
}

# Sends a question to where it goes next. Over sockets, runners have only the addresses in their instance.
sub send_question {
    my ($said) = @_;
    my ($instance) = values %{ $session{instances}{ $said->{instance} } // return };
    my $assigned = $instance->{shardAssignments};
    my %rank_of = map { my ($shard) = values %{ $assigned->{runnerToShard}{ $assigned->{nodeToRunner}{$_} } }; $_ => $shard->{deviceRank} }
        keys %{ $assigned->{nodeToRunner} };
    my $rank = $said->{hop} % keys %rank_of;
    my ($next) = $said->{is_back} ? $said->{from} : grep { $rank_of{$_} == $rank } keys %rank_of;
    return take_question($said) if $next eq node_id();
    my $hosts = $said->{hop} > 0 && !$said->{is_back} ? ($instance->{hostsByNode} // {})->{ node_id() } : undef;
    send_line($json->encode($said), $hosts ? $hosts->[$rank]{ip} : map { $_->{ip} } @{ told($next)->{addresses} // [] });
}

sub load_layers {
    my ($runner, $spent) = @_;
    my $count = $runner->{shard}{endLayer} - $runner->{shard}{startLayer};
    my $loaded = int $count * $spent / (0.8 * $clock);
    return enter($runner, 'Loaded') if $loaded >= $count;
    $runner->{shown} = { RunnerLoading => { layersLoaded => $loaded, totalLayers => $count } };
}

sub advance {
    my ($name, $runner) = @_;
    enter($runner, 'Idle') unless defined $runner->{state};
    my ($state, $spent) = ($runner->{state}, Time::HiRes::time() - $runner->{since});
    return if $spent < 0.2 * $clock && $state ne 'Loading';
    if ($state eq 'Idle') {
        return unless defined model_folder($runner->{model});
        enter($runner, $runner->{shard}{worldSize} > 1 ? 'Connecting' : 'Loading');
    } elsif ($state eq 'Connecting') {
        return if exists $fault{'stuck-connect'} || !all_reached($runner, 'Connecting');
        return fail_runner($runner, $fault{'fail-runner'}) if defined $fault{'fail-runner'};
        my $problem = $runner->{tag} eq 'MlxJacclInstance' ? rdma_problem($runner) : undef;
        defined $problem ? fail_runner($runner, $problem) : enter($runner, 'Connected');
    }
    elsif ($state eq 'Connected') { enter($runner, 'Loading') if all_reached($runner, 'Connected') }
    elsif ($state eq 'Loading') { load_layers($runner, $spent) }
    elsif ($state eq 'Loaded') { enter($runner, 'WarmingUp') if all_reached($runner, 'Loaded') }
    elsif ($state eq 'WarmingUp') {
        return if exists $fault{'stuck-warmup'} || !all_reached($runner, 'WarmingUp');
        be_ready($runner);
    }
    elsif ($state eq 'Failed') { try_again($runner) if $spent > ($runner->{tries} < 4 ? 0.4 * $clock : 1.2) }
}

# Retries five times; then the worker requests the deletion of the instance. A client that polls sees the last failure.
sub try_again {
    my ($runner) = @_;
    $runner->{tries} += 1;
    return enter($runner, 'Idle') if $runner->{tries} < 5;
    return if $runner->{tries} > 5;
    log_record('WARNING', "Instance $runner->{instance}{instanceId} exceeded 5 retries, requesting deletion");
    command('delete', name => $runner->{instance}{instanceId});
}

1;
