# The double's HTTP API. exo's own models are camelCase with single-key unions; plain API models are snake_case.
use strict;
use warnings;
use POSIX ();

our ($json, $is_main, $is_offline, $exo_home, $clock, %fault, %session, %option);

$json->allow_nonref;
# The waiting clients, by question, with the time of the last sign of life; and the order of the questions.
my (%asked, @questions);

my @card_keys = qw(modelId storageSize nLayers hiddenSize supportsTensor numKeyValueHeads tasks components family quantization
    baseModel capabilities contextLength usesCfg trustRemoteCode isCustom vision);
push @card_keys, qw(backends reasoningDialect samplingDefaults) if $is_main;
my @shard_keys = qw(modelCard deviceRank worldSize immediateException shouldTimeout startLayer endLayer nLayers);
my @instance_keys = qw(instanceId shardAssignments);

sub refuse {
    my ($client, $status, $message) = @_;
    my $type = $status == 404 ? 'Not Found' : 'Bad Request';
    say_json($client, $status, { error => { message => $message, type => $type, param => undef, code => $status + 0 } });
}

# FastAPI's rejection of a body.
sub invalid {
    my ($client, $kind, $place, $message) = @_;
    say_json($client, 422, { detail => [{ type => $kind, loc => ['body', @$place], msg => $message, input => {} }] });
}

sub unescaped { return $_[0] =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger =~ s/\+/ /gr }

sub answer_client {
    my ($client) = @_;
    my ($method, $target, $body) = read_request($client) or return;
    my ($path, $query) = split /\?/, $target, 2;
    my %query;
    for my $pair (split /&/, $query // '') {
        my ($key, $value) = map { unescaped($_) } split /=/, $pair, 2;
        push @{ $query{$key} }, $value;
    }
    my $sent = eval { $json->decode($body) };
    return invalid($client, 'json_invalid', [0], 'JSON decode error') if $method eq 'POST' && ref $sent ne 'HASH';
    route($client, "$method $path", \%query, $sent);
}

sub route {
    my ($client, $asked, $query, $sent) = @_;
    return say_json($client, 200, node_id()) if $asked eq 'GET /node_id';
    return say_json($client, 200, state_value()) if $asked eq 'GET /state';
    return state_part($client, $1) if $asked =~ m{^GET /state/(.+)$};
    return list_models($client) if $asked =~ m{^GET (?:/v1)?/models$};
    return say_json($client, 200, { version => '1.0.0' }) if $asked eq 'GET /ollama/api/version';
    return previews($client, $query) if $asked eq 'GET /instance/previews';
    return add_model($client, $sent) if $asked eq 'POST /models/add';
    return create($client, $sent) if $asked eq 'POST /instance';
    return place_instance($client, $sent) if $asked eq 'POST /place_instance';
    return one_instance($client, $1, $2) if $asked =~ m{^(GET|DELETE) /instance/([^/]+)$};
    return chat($client, $sent) if $asked eq 'POST /v1/chat/completions';
    say_json($client, 404, { detail => 'Not Found' });
}

# Rejects a body with unknown or missing keys; then returns undefined, because the client got its answer.
sub checked {
    my ($client, $sent, $place, $needed, @optional) = @_;
    my %known = map { $_ => 1 } @$needed, @optional;
    for my $key (sort keys %$sent) {
        next if $known{$key};
        invalid($client, 'extra_forbidden', [@$place, $key], 'Extra inputs are not permitted');
        return undef;
    }
    for my $key (@$needed) {
        next if exists $sent->{$key};
        invalid($client, 'missing', [@$place, $key], 'Field required');
        return undef;
    }
    return 1;
}

# The single key of a union, and its value.
sub tagged {
    my ($client, $value, $place, @tags) = @_;
    my ($tag, @more) = ref $value eq 'HASH' ? keys %$value : ();
    return ($tag, $value->{$tag}) if defined $tag && !@more && grep { $_ eq $tag } @tags;
    invalid($client, 'value_error', $place, 'Value error, expected one tagged value');
    return;
}

# Validates a whole instance, including the cards of its models.
sub checked_instance {
    my ($client, $value) = @_;
    my ($tag, $instance) = tagged($client, $value, ['instance'], 'MlxRingInstance', 'MlxJacclInstance') or return undef;
    my @own = $tag eq 'MlxRingInstance' ? qw(hostsByNode ephemeralPort) : qw(jacclDevices jacclCoordinators);
    checked($client, $instance, ['instance', $tag], [@instance_keys, @own]) // return undef;
    my $shards = $instance->{shardAssignments};
    checked($client, $shards, ['instance', $tag, 'shardAssignments'], [qw(modelId runnerToShard nodeToRunner)]) // return undef;
    for my $runner (sort keys %{ $shards->{runnerToShard} }) {
        my @place = ('instance', $tag, 'shardAssignments', 'runnerToShard', $runner);
        my ($kind, $shard) = tagged($client, $shards->{runnerToShard}{$runner}, \@place,
            'TensorShardMetadata', 'PipelineShardMetadata') or return undef;
        checked($client, $shard, [@place, $kind], \@shard_keys) // return undef;
        checked($client, $shard->{modelCard}, [@place, $kind, 'modelCard'], \@card_keys) // return undef;
    }
    return $instance;
}

sub taken {
    my ($client, $name, %more) = @_;
    say_json($client, 200, { message => 'Command received.', command_id => $name, %more });
}

# Checks no more than exo does: only the free memory of all nodes together must be enough.
sub create {
    my ($client, $sent) = @_;
    checked($client, $sent, [], ['instance']) // return;
    my $instance = checked_instance($client, $sent->{instance}) // return;
    my ($shard) = map { values %$_ } values %{ $instance->{shardAssignments}{runnerToShard} };
    my ($needed, $free) = ($shard->{modelCard}{storageSize}{inBytes}, 0);
    $free += told($_)->{memory} // 0 for alive();
    return refuse($client, 400, sprintf 'Insufficient memory to create instance. Required: %.1fGB, Available: %.1fGB',
        $needed / 2**30, $free / 2**30) if $needed > $free;
    taken($client, command('create', instance => $sent->{instance}), model_card => $shard->{modelCard});
}

sub place_instance {
    my ($client, $sent) = @_;
    checked($client, $sent, [], ['model_id'], qw(sharding instance_meta min_nodes)) // return;
    my $card = cards()->{ $sent->{model_id} } // return refuse($client, 400, "Model $sent->{model_id} not found");
    taken($client, command('place', model => $sent->{model_id}, sharding => $sent->{sharding} // 'Pipeline',
        meta => $sent->{instance_meta} // 'MlxRing', least => $sent->{min_nodes} // 1), model_card => $card);
}

sub one_instance {
    my ($client, $method, $name) = @_;
    my $found = $session{instances}{$name} // return refuse($client, 404, 'Instance not found');
    return say_json($client, 200, $found) if $method eq 'GET';
    taken($client, command('delete', name => $name), instance_id => $name);
}

sub list_models {
    my ($client) = @_;
    my $all = cards();
    my @rows = map { my $card = $all->{$_}; {
        id => $_, object => 'model', created => int time, owned_by => 'exo', hugging_face_id => $_, name => m{([^/]+)$},
        description => '', context_length => $card->{contextLength}, tags => [], tasks => $card->{tasks},
        storage_size_megabytes => int $card->{storageSize}{inBytes} / 2**20, supports_tensor => $card->{supportsTensor},
        is_custom => $card->{isCustom}, family => '', quantization => '', base_model => '', capabilities => ['text'],
        $is_main ? (reasoning_dialect => 'none') : (),
    } } sort keys %$all;
    say_json($client, 200, { object => 'list', data => \@rows });
}

sub add_model {
    my ($client, $sent) = @_;
    checked($client, $sent, [], ['model_id']) // return;
    my $card = card_from_files($sent->{model_id});
    my $url = "https://huggingface.co/$sent->{model_id}/resolve/main/model.safetensors.index.json";
    return refuse($client, 400, "Failed to fetch model: File not found: $url") unless defined $card;
    command('card', card => $card);
    say_json($client, 200, { id => $sent->{model_id}, object => 'model', owned_by => 'exo', is_custom => true() });
}

# One preview per sharding, instance kind and number of nodes, over all sets that contain the requested nodes.
sub previews {
    my ($client, $query) = @_;
    my ($model) = @{ $query->{model_id} // [] };
    my $card = cards()->{ $model // '' } // return refuse($client, 400, "Model $model not found");
    my (@found, @wanted);
    @wanted = @{ $query->{node_ids} // [] };
    for my $sharding (qw(Pipeline Tensor)) {
        for my $meta (qw(MlxRing MlxJaccl)) {
            my (%sizes, $error);
            for my $least (1 .. scalar(alive())) {
                my $made = place($card, $sharding, $meta, $least, @wanted);
                if (!ref $made) { $error = $made; next }
                my $on = (values %$made)[0]{shardAssignments}{nodeToRunner};
                next if $sizes{ keys %$on }++;
                my %delta = map { $_ => int $card->{storageSize}{inBytes} / keys %$on } keys %$on;
                push @found, preview($model, $sharding, $meta, $made, \%delta, undef);
            }
            push @found, preview($model, $sharding, $meta, undef, undef, $error) if defined $error && !%sizes;
        }
    }
    say_json($client, 200, { previews => \@found });
}

sub preview {
    my ($model, $sharding, $meta, $instance, $delta, $error) = @_;
    return {
        model_id => $model, sharding => $sharding, instance_meta => $meta, instance => $instance,
        memory_delta_by_node => $delta, error => $error,
    };
}

sub stamp { return POSIX::strftime('%Y-%m-%dT%H:%M:%S.000000Z', gmtime) }

sub state_value {
    my @nodes = alive();
    my %of = map { my $name = $_; $name => told($name) } @nodes;
    my %runners = map { %{ $_->{runners} // {} } } values %of;
    $runners{ uuid() } = { RunnerFailed => { errorMessage => 'long ago', $is_main ? (diagnostics => []) : () } } if exists $fault{'stale-runner'};
    my @ghosts = map { "ghost00000000000000000000000000$_" } 1 .. $fault{ghosts} // 0;
    my $identity = sub { {
        modelId => 'Mac Studio', chipId => 'Apple M3 Ultra', friendlyName => $_[0], osVersion => '26.5.1', osBuildVersion => '25F80',
    } };
    my $bytes = sub { { inBytes => $_[0] + 0 } };
    my $each = sub { my ($make) = @_; return { map { $_ => $make->($of{$_}) } @nodes } };
    return {
        instances => $session{instances}, runners => \%runners, tasks => {}, lastEventAppliedIdx => $session{index},
        downloads => { map { $_ => downloads_of($_, $of{$_}) } @nodes },
        lastSeen => $each->(sub { stamp() }),
        topology => { nodes => \@nodes, connections => connections() },
        nodeIdentities => { %{ $each->(sub { $identity->($_[0]{host}) }) }, map { $_ => $identity->('studio-9') } @ghosts },
        nodeMemory => $each->(sub { {
            ramTotal => $bytes->($_[0]{total}), ramAvailable => $bytes->($_[0]{memory}), swapTotal => $bytes->(0), swapAvailable => $bytes->(0),
        } }),
        nodeDisk => $each->(sub { { total => $bytes->(3.994e12), available => $bytes->(2.21e12) } }),
        nodeSystem => $each->(sub { { gpuUsage => 0.01, temp => 41.2, sysPower => 14.8, pcpuUsage => 0.02, ecpuUsage => 0.05 } }),
        nodeNetwork => $each->(sub { { interfaces => [map { { name => $_->{name}, ipAddress => $_->{ip}, interfaceType => 'maybe_ethernet' } } @{ $_[0]{addresses} }] } }),
        nodeThunderbolt => $each->(sub { { interfaces => [map { { rdmaInterface => "rdma_$_->{device}", domainUuid => $_->{uuid}, linkSpeed => $_->{speed} } } @{ $_[0]{cables} }] } }),
        nodeThunderboltBridge => $each->(sub { { enabled => false(), exists => false(), serviceName => undef } }),
        nodeRdmaCtl => $each->(sub { { enabled => $_[0]{rdma} ? true() : false() } }),
        thunderboltBridgeCycles => [],
        $is_main ? (nodeBackends => $each->(sub { [qw(MlxCpu MlxMetal)] }), instanceLinks => {}, prefillServerPorts => {}, customModelCards => $session{custom}) : (),
    };
}

sub downloads_of {
    my ($node, $told) = @_;
    return [map {
        my $layers = $_->{card}{nLayers};
        my $shard = { PipelineShardMetadata => {
            modelCard => $_->{card}, deviceRank => 0, worldSize => 1, immediateException => false(), shouldTimeout => undef,
            startLayer => 0, endLayer => $layers, nLayers => $layers,
        } };
        my %common = (nodeId => $node, shardMetadata => $shard, modelDirectory => $_->{folder} // '');
        defined $_->{folder}
            ? { DownloadCompleted => { %common, total => $_->{card}{storageSize}, readOnly => true() } }
            : { DownloadFailed => { %common, errorMessage => "Model '$_->{model}' is not complete on this node, and exo is offline" } };
    } @{ $told->{downloads} // [] }];
}

sub state_part {
    my ($client, $path) = @_;
    my $at = state_value();
    for my $key (map { unescaped($_) } split m{/}, $path) {
        $at = ref $at eq 'HASH' ? $at->{$key} : undef;
        return refuse($client, 404, "unable to find path '" . ($path =~ s{/}{.}gr) . "' in state json") unless defined $at;
    }
    say_json($client, 200, $at);
}

# Logs a request like exo: the master logs its command, runners log their task, and the release logs the prompt.
sub log_request {
    my ($sent, $instance) = @_;
    my @messages = @{ $sent->{messages} // [] };
    my $content = join ', ', map { "InputMessage(role='$_->{role}', content='" . (substr($_->{content} // '', 0, 100) =~ s/\n/\\n/gr) . "')" } @messages;
    my $task = "TextGeneration(instance_id='$instance->{instanceId}', task_params=TextGenerationTaskParams(input=[$content]))";
    log_record('INFO', "Executing command: $task");
    log_record('INFO', "Starting task $task");
    log_record('INFO', "received chat request: $task");
    log_record('INFO', join "\n", map { "<|im_start|>$_->{role}\n" . ($_->{content} // '') . '<|im_end|>' } @messages) unless $is_main;
    log_record('INFO', 'Starting prefill');
    print { our $events } $json->encode($sent);
}

# Answers once the question has passed every runner. If a runner is gone or hangs, the client waits forever.
sub chat {
    my ($client, $sent) = @_;
    my $model = $sent->{model} // '';
    my ($instance) = grep { $_->{shardAssignments}{modelId} eq $model } map { values %$_ } values %{ $session{instances} };
    return refuse($client, 404, "No instance found for model $model") unless defined $instance;
    my $name = uuid();
    $asked{$name} = { client => $client, sent => $sent, model => $model, signed_at => Time::HiRes::time() };
    push @questions, $name;
    delete $asked{ shift @questions } if @questions > 50;
    print {$client} "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" if $sent->{stream};
    my $names = $instance->{shardAssignments}{nodeToRunner};
    for my $node (keys %$names) {
        my ($state) = keys %{ told($node)->{runners}{ $names->{$node} } // {} };
        return if ($state // '') !~ /^Runner(?:Ready|Running)$/;
    }
    log_request($sent, $instance);
    my $digest = $json->encode($sent->{messages} // []);
    send_question({ question => $name, instance => $instance->{instanceId}, from => node_id(), hop => 0, digest => $digest });
}

# Comments keep the connections of streams open.
sub keep_alive {
    my $now = Time::HiRes::time();
    for my $one (grep { $_->{sent}{stream} && $now - $_->{signed_at} > 10 * $clock } values %asked) {
        $one->{signed_at} = $now;
        print { $one->{client} } ": keep-alive\n\n";
    }
}

sub answer_question {
    my ($name, $digest) = @_;
    my $one = delete $asked{$name} // return;
    @questions = grep { $_ ne $name } @questions;
    my ($client, $sent, $tokens) = (@$one{qw(client sent)}, tokens_of($one->{sent}));
    my $text = substr $digest, 0, 8 * $tokens;
    my $answer = sub { {
        id => uuid(), object => 'chat.completion', created => int time, model => $one->{model}, choices => [{ index => 0, @_ }],
    } };
    my $reason = $tokens < 8 ? 'length' : 'stop';
    if (!$sent->{stream}) {
        my $whole = $answer->(message => { role => 'assistant', content => $text }, finish_reason => $reason);
        return say_json($client, 200, { %$whole, usage => usage($tokens) });
    }
    # As in exo, `object` is that of a complete answer, and the chunks are between comments.
    for my $at (0 .. $tokens - 1) {
        my $piece = $answer->(delta => { role => 'assistant', content => substr $text, 8 * $at, 8 }, finish_reason => $at == $tokens - 1 ? $reason : undef);
        print {$client} 'data: ', $json->encode($at == $tokens - 1 ? { %$piece, usage => usage($tokens) } : $piece), "\n\n";
    }
    print {$client} ": generation_stats {}\n\ndata: [DONE]\n\n";
}

1;
