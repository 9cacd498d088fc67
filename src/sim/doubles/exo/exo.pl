# The double of exo: its command line, its HTTP API and its ways, without a model. Two dialects, those of the release
# 1.0.71 and of the main branch of June 2026; the file `dialect` beside it says which. What it answers follows exo's
# sources at fd707de3 and b5375f8c.
#
# Like exo it takes a new random id at every start, forgets everything with its master, answers 200 to a placement that
# its master then refuses, carries commands out later than it answers them, refuses fields that it does not know (422),
# and starts a failed runner again five times before it deletes the instance. It asks the Mac by the tools that exo asks
# by name. Peers find each other on cables: at the addresses of the table that MESHWRIGHT_LINK_TABLE names, or at the
# other end of every /30 of its own; multicast and election are left out, the master is who was forced, else the least id.
# MESHWRIGHT_CLOCK is how long a second of the Mac takes: runners take as long, while nobody is missed any sooner.
#
# A file `exo-faults` beside that table, or /.sim/exo-faults, is read all the time; a line each:
#   refuse-placement      the master takes no placement, and only its log says so
#   stuck-connect, stuck-warmup    runners stay there for ever
#   stuck-shutdown        runners of a deleted instance never end
#   fail-runner TEXT      runners fail with this message
#   session N             another number than before: the session of the master ends, its state is gone
#   ghosts N              identities of nodes that are no more
#   stale-runner          a runner of no instance stays in the state
#   alone                 it hears and sees nobody
use Cwd ();
use Fcntl qw(:flock);

our $folder = Cwd::abs_path(__FILE__) =~ s{/[^/]*$}{}r;
our $dialect = read_text("$folder/dialect") // 'main';
$dialect =~ s/\s+//g;
our $is_main = $dialect eq 'main';
our %option;
our %fault;
# However fast the clock of the Mac is, the others hear of a runner as fast as this machine lets them.
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
    for my $ready ($select->can_read(0.1)) {
        my $client = $ready->accept or next;
        $client->autoflush(1);
        # Nobody may keep the whole of it waiting.
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
}

sub stop {
    my ($code, $text) = @_;
    print STDERR "$text\n";
    exit $code;
}

# loguru on stderr in colors, and in a file of its own, which it packs once, at its first record, and never opens again.
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

# argparse: what it does not know ends it with 2.
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

# One home per node: a second exo in it ends at once.
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

# A listener at an address of the table, or, on a machine of its own, at another one.
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
