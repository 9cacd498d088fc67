# A double of ds4 and ds4-server in tensor-parallel mode. It accepts the options of these programs and refuses others.
# @see antirez/ds4: the options in ds4_help.c and ds4_server.c, and the order of a start in QA_BEFORE_RELEASES.md
my ($is_server) = $0 =~ m{ds4-server$};
my $me = $is_server ? 'ds4-server' : 'ds4';
my %values = map { $_ => 1 } qw(-m -c -n -t --model --ctx --tokens --threads --power --prefill-chunk --role --transport
    --rdma-device --rdma-gid-index --debug-hash --layers), $is_server
    ? qw(--host --port --batched-session --kv-disk-dir --kv-disk-space-mb --trace) : qw(-p --prompt --prompt-file --temp --seed);
my %flags = map { $_ => 1 } qw(--metal --tensor-parallel --quality --warm-weights --debug), $is_server ? qw(--cors) : qw(--nothink);
my %pairs = map { $_ => 1 } qw(--listen --coordinator);
my %option;
while (@ARGV) {
    my $name = shift @ARGV;
    my $count = $flags{$name} ? 0 : $values{$name} ? 1 : $pairs{$name} ? 2 : refuse("unknown option: $name");
    @ARGV >= $count or refuse("missing value for $name");
    $option{$name} = $count ? [splice @ARGV, 0, $count] : [1];
}
my $model = ($option{'-m'} // $option{'--model'} // refuse('no model'))->[0];
-f $model or refuse("cannot open $model");
my $context = ($option{'-c'} // $option{'--ctx'} // [32768])->[0];
$option{'--tensor-parallel'} or refuse('this double has only tensor parallelism');
$option{'--layers'} and refuse('tensor parallelism always uses one 50/50 worker: omit --layers');
my $transport = ($option{'--transport'} // ['auto'])->[0];
$transport =~ /^(?:auto|rdma|tcp)$/ or refuse("bad transport $transport");
my $device = ($option{'--rdma-device'} // [''])->[0];
$transport ne 'rdma' or (cables()->{$device} // { state => 'absent' })->{state} eq 'active' or refuse("no active RDMA device '$device'");
$SIG{TERM} = sub { exit 0 };
my $role = ($option{'--role'} // [''])->[0];
if ($role eq 'coordinator') { $is_server or refuse('the double of ds4 is only a worker'); coordinate() }
elsif ($role eq 'worker') { work() }
else { refuse("bad role '$role'") }

sub refuse { print STDERR "$me: $_[0]\n"; exit 2 }

sub coordinate {
    my ($host, $port) = @{ $option{'--listen'} // refuse('--role coordinator needs --listen') };
    my $meeting = listener("$host:$port");
    print "ds4-tp: waiting for worker on $host:$port\n";
    my $worker = $meeting->accept or refuse('accept failed');
    $worker->autoflush(1);
    my ($size) = (<$worker> // '') =~ /^worker ctx=(\d+)$/ or refuse('bad hello');
    $size > $context or refuse("worker context too small: $size");
    print "ds4-tp: leader connected, transport=$transport device=$device\n";
    my $http = listener(join ':', ($option{'--host'} // ['127.0.0.1'])->[0], ($option{'--port'} // [8000])->[0]);
    # The worker computes half of each token.
    serve($http, sub { print {$worker} "token\n"; return defined(<$worker>) ? 'Hello' : undef });
}

sub work {
    my ($host, $port) = @{ $option{'--coordinator'} // refuse('--role worker needs --coordinator') };
    my $place = place_of("$host:$port") // refuse("cannot reach $host:$port");
    my $leader = IO::Socket::INET->new(PeerAddr => $place, Proto => 'tcp') // refuse("cannot connect to $host:$port: $!");
    $leader->autoflush(1);
    print {$leader} "worker ctx=$context\n";
    print "tensor parallelism bound: rank 1\n";
    while (defined(my $line = <$leader>)) { print {$leader} "half\n" }
    exit 1;
}
