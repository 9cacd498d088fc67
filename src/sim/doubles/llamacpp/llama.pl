# A double of llama.cpp. Depending on the program's name, the double acts as llama-server or as ggml-rpc-server. It
# accepts the options that meshwright passes to the real programs, and logs the same lines about workers and devices.
# Its answers are hexadecimal digits derived from the model and the question.
#
# Like the real server, the double connects to its workers at startup, and exits if it loses a worker. Clients wait
# while a cable carries no data. A worker serves only one server at a time. SIGUSR1 makes the double hang. @see
# tools/server and ggml/src/ggml-rpc of llama.cpp

my $is_worker = $0 =~ /rpc-server$/;
my %flags = map { $_ => 1 } $is_worker ? '--cache' : '--no-ui';
my %takes = map { $_ => 1 } $is_worker
    ? qw(--host --port)
    : qw(--model --alias --host --port --rpc --split-mode --tensor-split --n-gpu-layers --ctx-size --parallel --fit
      --cache-ram --log-verbosity --model-draft --gpu-layers-draft --spec-type);
my %option;
if (!$is_worker && "@ARGV" eq '--list-devices') {
    print "Available devices:\n  MTL0: Apple GPU (98304 MiB, 98304 MiB free)\n";
    exit 0;
}
while (@ARGV) {
    my $name = shift @ARGV;
    if ($flags{$name}) { $option{$name} = 1; next }
    fail(1, "error: invalid argument: $name") unless $takes{$name} && @ARGV;
    $option{$name} = shift @ARGV;
}
defined $option{$_} or fail(1, "error: $_ is missing") for $is_worker ? qw(--host --port) : qw(--model --host --port);
my ($is_hung, @waiting) = (0);
unknown_type($option{'--spec-type'}) if ($option{'--spec-type'} // 'draft-simple') ne 'draft-simple';
$SIG{USR1} = sub { $is_hung = 1 };
$SIG{TERM} = $SIG{INT} = sub { exit 0 };
$is_worker ? work() : serve();

sub fail {
    my ($code, $text) = @_;
    print STDERR "$text\n";
    exit $code;
}

# Uses RDMA if RDMA is not disabled and one of this Mac's devices has the address or is cabled to it; otherwise,
# silently falls back to TCP. If a queue pair cannot be connected, logs the error and falls back to TCP.
sub has_rdma {
    my ($address) = @_;
    my ($host) = $address =~ /^(.*):/;
    return 0 if $ENV{GGML_RPC_NO_RDMA} || !grep { same_cable($_->{address}, $host) } values %{ cables() };
    my $errno = failing('rtr') // return 1;
    print "RDMA(Apple/UC) RTR failed: $errno\nRDMA activate failed, staying on TCP\n";
    return 0;
}

# Whether data can reach an address. With RDMA, the device at this end must also be connected to a device at the other
# end.
sub is_reached {
    my ($address, $is_rdma) = @_;
    return 0 unless defined place_of($address);
    my ($host) = $address =~ /^(.*):/;
    return !$is_rdma || !grep { same_cable($_->{address}, $host) && $_->{far} eq '- -' } values %{ cables() };
}

# The two ends use RDMA only if both ends can use it.
sub agreed {
    my ($socket, $is_rdma) = @_;
    print {$socket} "$is_rdma\n";
    my $is_far = readline($socket) // return undef;
    print "RDMA activation not mutual, staying on TCP\n" if $is_rdma && $is_far == 0;
    return $is_rdma && $is_far == 1 ? 1 : 0;
}

sub listener {
    my ($address, $failure) = @_;
    my $place = place_of($address) // fail(1, $failure);
    return IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 64, ReuseAddr => 1) // fail(1, $failure);
}

sub work {
    my $address = "$option{'--host'}:$option{'--port'}";
    my $listening = listener($address, 'Failed to create server socket');
    print "Starting RPC server v4.0.0\n  endpoint       : $address\n  transport      : TCP\n";
    while (1) {
        my $server = $listening->accept or next;
        $server->autoflush(1);
        print "Accepted client connection\n";
        my $is_rdma = agreed($server, has_rdma($address));
        print "RDMA(Apple/UC) activated: $option{'--host'}\n" if $is_rdma;
        while (defined(my $line = <$server>)) {
            sleep 3600 while $is_hung;
            # On this machine, connections stay open after a cable is pulled.
            Time::HiRes::sleep(0.1) until is_reached($address, $is_rdma);
            say_tcp() unless $is_rdma;
            print {$server} $line;
        }
        print "Client connection closed\n";
    }
}

# Whether a worker still echoes data on its connection; undefined if the worker does not respond within `$limit`
# seconds.
sub is_alive {
    my ($worker, $limit) = @_;
    return 0 unless $worker->{is_asked} || print { $worker->{socket} } "ping\n";
    $worker->{is_asked} = 1;
    return undef unless IO::Select->new($worker->{socket})->can_read($limit);
    $worker->{is_asked} = 0;
    return (readline($worker->{socket}) // '') eq "ping\n";
}

# Whether every worker has finished its part of an answer.
sub are_done {
    my @workers = @_;
    for my $worker (grep { !$_->{is_done} } @workers) {
        return 0 unless is_reached($worker->{address}, $worker->{is_rdma});
        say_tcp() unless $worker->{is_rdma};
        my $is_alive = is_alive($worker, 0.1) // return 0;
        $is_alive or fail(134, 'Remote RPC server crashed or returned malformed response');
        $worker->{is_done} = 1;
    }
    $_->{is_done} = 0 for @workers;
    return 1;
}

sub workers {
    my @found;
    for my $address (split /,/, $option{'--rpc'} // '') {
        my $place = is_denied($address) ? undef : place_of($address);
        my $socket = defined $place && IO::Socket::INET->new(PeerAddr => $place, Proto => 'tcp', Timeout => 5);
        fail(1, "Failed to connect to $address") unless $socket;
        $socket->autoflush(1);
        my $is_rdma = agreed($socket, has_rdma($address)) // fail(1, "RPC handshake failed for $address");
        push @found, { socket => $socket, address => $address, is_rdma => $is_rdma };
        is_alive($found[-1], undef) or fail(1, "RPC handshake failed for $address");
    }
    return @found;
}

sub unknown_type { fail(1, "error while handling argument \"--spec-type\": unknown speculative type: $_[0]") }

# Checks a model like the real server, which first reads the beginning of the file.
sub check_model {
    my ($model) = @_;
    open my $weights, '<:raw', $model or fail(1, "error: failed to open GGUF file '$model'");
    read($weights, my $magic, 4);
    $magic eq 'GGUF' or fail(1, "gguf_init_from_file: invalid magic characters in '$model'");
}

# Loads the drafter after the model. Like the real server, the double uses the drafter only if `--spec-type` is set.
sub load_drafter {
    my $drafter = $option{'--model-draft'} // return;
    print "common_speculative_init_result: loading draft model '$drafter'\n";
    check_model($drafter);
    printf "load_tensors:  MTL0_Mapped model buffer size = %.2f MiB\n", (-s $drafter) / 1048576;
    my $type = $option{'--spec-type'};
    print defined $type
        ? "common_speculative_init: adding speculative implementation '$type'\n"
        : "common_speculative_init: no implementations specified for speculative decoding\n";
}

sub serve {
    my $model = $option{'--model'};
    check_model($model);
    my $digest = Digest::SHA->new(256)->addfile($model, 'b')->hexdigest;
    my @workers = workers();
    my $share = sprintf '%.2f', (-s $model) / 1048576 / (@workers + 1);
    my $devices = 0;
    for my $worker (@workers) {
        my $name = 'RPC' . $devices++;
        print "llama_prepare_model_devices: using device $name ($worker->{address}) (unknown id) - 1024 MiB free\n";
        print "load_tensors: ${name}[$worker->{address}] model buffer size = $share MiB\n";
    }
    print "load_tensors:  MTL0_Mapped model buffer size = $share MiB\n";
    load_drafter();
    my $endpoint = listener("$option{'--host'}:$option{'--port'}", "couldn't bind HTTP server socket");
    print "main: server is listening on http://$option{'--host'}:$option{'--port'}\n";
    my $select = IO::Select->new($endpoint);
    while (1) {
        for ($select->can_read(@waiting && !$is_hung ? 0.1 : undef)) {
            my $client = $endpoint->accept or next;
            $is_hung ? push @waiting, $client : answer($client);
        }
        answer_chat(@{ shift @waiting }, $digest) while @waiting && !$is_hung && are_done(@workers);
    }
}

sub answer {
    my ($client) = @_;
    $client->autoflush(1);
    my ($method, $path, $body) = read_request($client) or return;
    my $route = "$method $path";
    return say_json($client, 200, { status => 'ok' }) if $route eq 'GET /health';
    return say_json($client, 200, { object => 'list', data => [{ id => model_name(), object => 'model' }] })
        if $route eq 'GET /v1/models';
    return say_json($client, 404, { error => { message => 'File Not Found' } }) if $route ne 'POST /v1/chat/completions';
    my $asked = eval { $json->decode($body) };
    return say_json($client, 400, { error => { message => "'messages' is required" } })
        if ref $asked ne 'HASH' || ref $asked->{messages} ne 'ARRAY';
    push @waiting, [$client, $asked];
}

sub answer_chat {
    my ($client, $asked, $digest) = @_;
    my $tokens = tokens_of($asked);
    my $text = substr sha256_hex($digest . $json->encode($asked->{messages})), 0, 8 * $tokens;
    my @answer = (model_name(), $text, $tokens);
    $asked->{stream} ? say_stream($client, @answer) : say_json($client, 200, completion(@answer));
}

sub model_name { return $option{'--alias'} // 'model' }
