# The double of exo: its command line, HTTP API and behavior, without a model. It has two dialects, those of release
# 1.0.71 and of the main branch of June 2026; the file `dialect` next to the program selects one. Its answers follow
# exo's sources at fd707de3 and b5375f8c.
#
# Like exo, it gets a new random id at every start, loses all state with its master, answers 200 to a placement that its
# master then refuses, executes commands after it has answered them, rejects unknown fields (422), and restarts a failed
# runner five times before it deletes the instance. It queries the Mac with the same tools as exo, by name. Peers find
# each other over cables: at the addresses in the table named by MESHWRIGHT_LINK_TABLE, or at the other end of each of
# the node's /30 networks. Multicast and election are not simulated: the master is the forced node, otherwise the node
# with the lowest id. MESHWRIGHT_CLOCK is the real duration of one second on the Mac. It applies to runners, but not to
# the time after which a node counts as gone.
#
# The file `exo-faults` next to that table, or /.sim/exo-faults, is read continuously. Each line is one of:
#   refuse-placement      the master refuses every placement, which only its log shows
#   stuck-connect, stuck-warmup    runners remain in this state forever
#   hang-runner           a runner that gets a question never passes it on
#   stuck-shutdown        runners of a deleted instance never exit
#   fail-runner TEXT      runners fail with this message
#   session N             a new number ends the master's session, and its state is lost
#   ghosts N              number of identities of nodes that no longer exist
#   stale-runner          the state contains a runner without an instance
#   alone                 the node neither hears nor sees other nodes
use Cwd ();
use Fcntl qw(:flock);

our $folder = Cwd::abs_path(__FILE__) =~ s{/[^/]*$}{}r;
our $dialect = read_text("$folder/dialect") // 'main';
$dialect =~ s/\s+//g;
our $is_main = $dialect eq 'main';
our %option;
our %fault;
# A faster clock would not help: news about a runner travels only as fast as this machine allows.
our $clock = $ENV{MESHWRIGHT_CLOCK} // 1;
$clock = 0.25 if $clock < 0.25;
require "$folder/mesh.pl";
require "$folder/placing.pl";
require "$folder/api.pl";

$SIG{TERM} = $SIG{INT} = sub {
    log_record('CRITICAL', $_) for cut_runners();
    log_record('INFO', 'EXO Shutdown complete');
    exit 0;
};

read_options();
read_environment();
my $lock = make_home();
my $api = listen_at("127.0.0.1:$option{'--api-port'}", "0.0.0.0:$option{'--api-port'}")
    // stop(1, "[Errno 48] error while attempting to bind on address ('0.0.0.0', $option{'--api-port'})");
log_record('INFO', $_) for 'Starting node ' . node_id(), 'Starting API', 'Starting Worker';

my ($ticked, $select) = (0);
while (1) {
    my %mesh = map { $_->[1] => $_->[0] } mesh_listeners();
    $select = IO::Select->new($api, map { $_->[1] } mesh_listeners());
    for my $ready ($select->can_read(is_settled() ? 0.5 : 0.1)) {
        my $client = $ready->accept or next;
        $client->autoflush(1);
        # No client may block the whole program.
        local $SIG{ALRM} = sub { die "too slow\n" };
        Time::HiRes::alarm(2);
        eval { $ready == $api ? answer_client($client) : hear_peer($client, $mesh{$ready}) };
        Time::HiRes::alarm(0);
    }
    next if Time::HiRes::time() - $ticked < 0.1;
    $ticked = Time::HiRes::time();
    read_faults();
    tick_mesh();
    tick_placing();
    keep_alive();
}

sub stop {
    my ($code, $text) = @_;
    print STDERR "$text\n";
    exit $code;
}

# loguru's output: in color on stderr, and in a log file that it compresses once, at its first record, and never
# reopens.
sub log_record {
    my ($level, $text) = @_;
    my @now = localtime;
    my $hour = $now[2] % 12 || 12;
    my $time = sprintf '%02d:%02d:%02d.%04d%s', $hour, @now[1, 0], rand 10_000, $now[2] < 12 ? 'AM' : 'PM';
    printf STDERR "[ %s | \e[1m%-8s\e[0m] \e[1m%s\e[0m\n", $time, $level, $text;
    our ($log, $exo_home, $is_rotated);
    return unless defined $log;
    my $path = "$exo_home/exo_log/exo";
    if (!$is_rotated++) {
        close $log;
        rename "$path.log", "$path.2026.log";
        open my $packed, '>', "$path.2026.log.zst" or die "$path: $!\n";
        unlink "$path.2026.log";
        open $log, '>>', "$path.log" or die "$path: $!\n";
        $log->autoflush(1);
    }
    printf {$log} "[ %s | %-8s | exo:main:1 ] %s\n", $time, $level, $text;
}

# Like argparse, it exits with 2 for unknown arguments.
sub read_options {
    my %words = map { $_ => 0 } qw(-q -v -vv -m --force-master --no-api --no-worker --no-downloads --offline
        --no-batch --fast-synch --no-fast-synch);
    my @named = ('--api-port', $is_main ? qw(--namespace --zenoh-port --discovery-port) : qw(--libp2p-port));
    $words{$_} = 1 for @named, '--bootstrap-peers';
    $words{'--legacy-daemon'} = 0 if $is_main;
    %option = ('--api-port' => 52415);
    while (@ARGV) {
        my $word = shift @ARGV;
        defined $words{$word} or stop(2, "usage: EXO [-h]\nEXO: error: unrecognized arguments: $word");
        $word = '--force-master' if $word eq '-m';
        next if !$words{$word} && ($option{$word} = 1);
        @ARGV or stop(2, "EXO: error: argument $word: expected one argument");
        $option{$word} = shift @ARGV;
        next if $word !~ /-port$/;
        $option{$word} =~ /^[0-9]+$/ or stop(2, "EXO: error: argument $word: invalid int value: '$option{$word}'");
    }
}

sub read_environment {
    if ($is_main) {
        defined $ENV{EXO_LIBP2P_NAMESPACE}
            and stop(1, 'EXO_LIBP2P_NAMESPACE has been removed. Use --namespace instead.');
        defined $option{'--bootstrap-peers'} || $ENV{EXO_BOOTSTRAP_PEERS}
            and stop(1, 'Bootstrap peers has been temporarily removed');
    }
    our $namespace = $is_main ? $option{'--namespace'} // '0.3.70' : $ENV{EXO_LIBP2P_NAMESPACE} // 'v0.0.1';
    our $is_offline = $option{'--offline'} || ($ENV{EXO_OFFLINE} // '') =~ /^(?:true|1)$/i;
    our $mesh_port = $is_main ? $option{'--zenoh-port'} // 52414 : $option{'--libp2p-port'} // 0;
}

# One home per node: a second exo with the same home exits immediately.
sub make_home {
    my $home = ($ENV{HOME} // stop(1, 'RuntimeError: Could not determine home directory.')) . '/' . ($ENV{EXO_HOME} // '.exo');
    our $exo_home = $home;
    my $path = '';
    for my $part (grep { $_ ne '' } split m{/}, "$home/exo_log") {
        $path .= "/$part";
        -d $path or mkdir $path or stop(1, "PermissionError: [Errno 13] $!: '$path'");
    }
    open my $pid, '>>', "$home/exo.pid" or stop(1, "PermissionError: [Errno 13] $!: '$home/exo.pid'");
    flock($pid, LOCK_EX | LOCK_NB) or stop(1, "exo is already running in $home");
    open our $log, '>>', "$home/exo_log/exo.log" or stop(1, "PermissionError: [Errno 13] $!: '$home/exo_log/exo.log'");
    for my $folder ("$home/event_log", "$home/event_log/api") { -d $folder or mkdir $folder }
    open our $events, '>', "$home/event_log/api/events.bin" or stop(1, "PermissionError: [Errno 13] $!: '$home/event_log'");
    $events->autoflush(1);
    return $pid;
}

sub read_faults {
    my $text = read_text("${beside}exo-faults") // '';
    %fault = map { /^(\S+)(?: (.*))?$/ ? ($1 => $2 // '') : () } split /\n/, $text;
}

# A listener at an address in the table; without a table, at the other address.
sub listen_at {
    my ($address, $alone) = @_;
    my $place = defined $ENV{MESHWRIGHT_LINK_TABLE} ? place_of($address) : $alone;
    return undef unless defined $place;
    return IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 128, ReuseAddr => 1);
}

sub random_hex { return join '', map { sprintf '%x', int rand 16 } 1 .. $_[0] }

sub uuid {
    return join '-', random_hex(8), random_hex(4), '4' . random_hex(3), 'a' . random_hex(3), random_hex(12);
}
