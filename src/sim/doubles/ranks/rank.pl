# One rank of the reference runtime. An answer from a mesh of these ranks proves that every rank is alive, reaches its
# neighbors over the cables and has the same model.
#
#   rank --rank R --size N --listen ADDR:PORT --peers ADDR:PORT,... --model FOLDER --endpoint PORT --generation G
#        [--deadline SECONDS] [--transport tcp|rdma]
#
# Rank 0 serves the OpenAI chat API on 127.0.0.1:PORT. It turns a question into a digest, which travels from rank to
# rank over the link sockets. Each rank mixes in the SHA-256 of its own model files and the generation. When the last
# rank has sent the digest back to rank 0, the digest becomes the answer, with eight hexadecimal digits per token. If a
# rank is dead, a cable is missing or the deadline passes, the response has status 503. Even then, /health returns ok,
# as in real runtimes. SIGUSR1 makes a rank hang: the rank keeps accepting connections but never responds. SIGTERM stops
# the rank, unless it got SIGUSR2 before: then it ignores SIGTERM, like a rank that waits for a lost peer.
#
# With --transport rdma, a rank first opens its devices like the verbs library, and reports a failed transfer as a queue
# pair error. With --transport tcp, the Mac panics if there is a `tcp-panics` file next to the link table.

my %option = (deadline => 5, transport => 'tcp');
while (@ARGV) {
    my ($name, $value) = splice @ARGV, 0, 2;
    $name =~ /^--(rank|size|listen|peers|model|endpoint|generation|deadline|transport)$/ or fail(64, "unknown option $name");
    defined $value or fail(64, "$name needs a value");
    $option{$1} = $value;
}
for my $name (qw(rank size listen model endpoint generation)) {
    defined $option{$name} or fail(64, "--$name is missing");
}
my ($rank, $size, $generation) = @option{qw(rank size generation)};
my @peers = split /,/, $option{peers} // '';
/^[0-9]+$/ or fail(64, "$_ is not a number") for $rank, $size, $generation, $option{endpoint};
$rank < $size or fail(64, "rank $rank of $size does not exist");
$size == 1 || @peers == $size or fail(64, "--peers names " . @peers . " ranks instead of $size");
$option{transport} =~ /^(?:tcp|rdma)$/ or fail(64, "unknown transport $option{transport}");
my $is_rdma = $option{transport} eq 'rdma';
-d $option{model} or fail(66, "model folder $option{model} does not exist");

my ($is_hung, @held) = (0);
$SIG{CHLD} = 'IGNORE';
$SIG{USR1} = sub { $is_hung = 1 };
$SIG{USR2} = sub { $SIG{TERM} = $SIG{INT} = 'IGNORE' };
$SIG{TERM} = $SIG{INT} = sub {
    # Child processes that are handling requests are in the same process group.
    $SIG{TERM} = 'IGNORE';
    kill 'TERM', -$$ if getpgrp() == $$;
    exit 0;
};

hold_devices() if $is_rdma;
my $link = listener($option{listen});
my $endpoint = $rank == 0 ? listener("127.0.0.1:$option{endpoint}") : undef;
print "rank $rank of $size listens on $option{listen}, generation $generation\n";
my $sockets = IO::Select->new(grep { defined } $link, $endpoint);
while (1) {
    for my $listening ($sockets->can_read) {
        my $client = $listening->accept or next;
        if ($is_hung) {
            push @held, $client;
            shift @held if @held > 100;
            next;
        }
        my $model = eval { digest_below($option{model}) };
        defined(my $child = fork) or next;
        next if $child;
        $SIG{$_} = 'DEFAULT' for qw(TERM INT);
        $SIG{USR1} = 'IGNORE';
        $SIG{ALRM} = sub { die "the deadline passed\n" };
        my $is_link = $listening == $link;
        close $_ for $sockets->handles;
        Time::HiRes::alarm($option{deadline});
        eval { $is_link ? answer_rank($client, $model) : answer_client($client, $model) };
        exit 0;
    }
}

sub fail {
    my ($code, $text) = @_;
    print STDERR "rank: $text\n";
    exit $code;
}

# Opens a protection domain and a queue pair on each device that leads to a neighbor. Fails with the same errors as real
# programs.
sub hold_devices {
    my $errno = failing('alloc_pd');
    fail(1, "[jaccl] Couldn't allocate protection domain (errno $errno)") if defined $errno;
    return if $size == 1;
    $errno = failing('rtr');
    fail(1, "[jaccl] Changing queue pair to RTR failed with errno $errno") if defined $errno;
    my $known = cables();
    my ($own) = $option{listen} =~ /^([0-9.]+):/;
    my ($next) = $peers[($rank + 1) % $size] =~ /^([0-9.]+):/;
    my @devices = grep { my $at = $known->{$_}{address}; $at eq $own || same_cable($at, $next) } keys %$known;
    say_devices(map { $_ => 1 } @devices);
}

sub listener {
    my ($address) = @_;
    my $place = place_of($address) // fail(1, "$address: Can't assign requested address");
    return IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 64, ReuseAddr => 1)
        // fail(1, "$address: $!");
}

sub mixed {
    my ($digest, $model) = @_;
    return sha256_hex(join "\0", $digest, $rank, $generation, $model);
}

# Sends a digest over a link and waits for the reply.
sub ask_rank {
    my ($to, $digest, $hop) = @_;
    my $address = $peers[$to];
    if (!$is_rdma && is_denied($address)) {
        print STDERR "rank: connect $address: No route to host\n";
        die "rank $rank cannot reach $address\n";
    }
    my $place = place_of($address) // die $is_rdma
        ? "[jaccl] Changing queue pair to RTR failed with errno 60 (rank $rank to $address)\n"
        : "rank $rank cannot reach $address\n";
    say_tcp() unless $is_rdma;
    my $socket = IO::Socket::INET->new(PeerAddr => $place, Proto => 'tcp', Timeout => $option{deadline})
        // die "rank $to at $address does not answer: $!\n";
    $socket->autoflush(1);
    print {$socket} $json->encode({ digest => $digest, generation => $generation, hop => $hop }), "\n";
    my $line = <$socket> // die "rank $to at $address sent no answer\n";
    my $reply = $json->decode($line);
    die "$reply->{error}\n" if defined $reply->{error};
    return $reply->{digest};
}

# Mixes this rank's data into an incoming digest, and forwards the digest to the next rank or back to rank 0.
sub travelled {
    my ($digest, $hop, $model) = @_;
    die "rank $rank cannot read its model\n" unless defined $model;
    return sha256_hex("home $digest") if $hop == $size;
    my $mine = mixed($digest, $model);
    return $mine if $size == 1;
    return ask_rank(($hop + 1) % $size, $mine, $hop + 1);
}

sub answer_rank {
    my ($client, $model) = @_;
    $client->autoflush(1);
    # On this machine, connections stay open after a cable is pulled.
    return unless defined place_of($option{listen});
    my $asked = $json->decode(scalar <$client>);
    say_tcp() unless $is_rdma;
    my $digest = eval {
        die "rank $rank is of generation $generation\n" if $asked->{generation} ne $generation;
        die "rank $rank got the digest for a different rank\n" if $asked->{hop} % $size != $rank;
        travelled($asked->{digest}, $asked->{hop}, $model);
    };
    my $reply = defined $digest ? { digest => $digest } : { error => reason() };
    print {$client} $json->encode($reply), "\n";
}

sub reason {
    my ($text) = $@ =~ /^(.*\S)/;
    return $text // 'unknown error';
}

sub answer_client {
    my ($client, $model) = @_;
    $client->autoflush(1);
    my ($method, $path, $body) = read_request($client) or return;
    my $route = "$method $path";
    return say_json($client, 200, { status => 'ok' }) if $route eq 'GET /health';
    return say_json($client, 200, models()) if $route eq 'GET /v1/models';
    return say_json($client, 404, problem("unknown route $route")) if $route ne 'POST /v1/chat/completions';
    answer_chat($client, $body, $model);
}

sub answer_chat {
    my ($client, $body, $model) = @_;
    my $asked = eval { $json->decode($body) };
    my $messages = ref $asked eq 'HASH' ? $asked->{messages} : undef;
    return say_json($client, 400, problem('messages are missing')) if ref $messages ne 'ARRAY' || !@$messages;
    my $tokens = tokens_of($asked);
    my $text = eval { travelled(sha256_hex($json->encode($messages)), 0, $model) };
    if (!defined $text) {
        my $why = reason();
        print "no answer: $why\n";
        Time::HiRes::alarm(0);
        return say_json($client, 503, problem($why));
    }
    print "answered with $tokens tokens\n";
    my $question = ref $messages->[-1] eq 'HASH' ? $messages->[-1]{content} // '' : '';
    return say_json($client, 200, thoughtful($text, $tokens)) if $question =~ /^Think/;
    my @answer = (model_name(), substr($text, 0, 8 * $tokens), $tokens);
    $asked->{stream} ? say_stream($client, @answer) : say_json($client, 200, completion(@answer));
}

# Returns a response like that of a thinking model, with thoughts in every known format. The thoughts use several
# tokens, so a response with a low token limit contains no answer.
sub thoughtful {
    my ($text, $tokens) = @_;
    my $answer = completion(model_name(), $tokens < 8 ? '' : "<think>It is asked for.</think>$text", $tokens);
    $answer->{choices}[0]{message}{reasoning_content} = 'A question.';
    return $answer;
}

# Returns the last component of the model folder's path that is not a digest.
sub model_name {
    my @parts = grep { !/^[0-9a-f]{16}$/ } split m{/}, $option{model};
    return $parts[-1] // 'model';
}

sub models {
    return { object => 'list', data => [{ id => model_name(), object => 'model', owned_by => 'reference' }] };
}

sub problem {
    my ($text) = @_;
    return { error => { message => $text, type => 'reference_runtime' } };
}
