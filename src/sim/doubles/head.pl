#!/usr/bin/perl
# The common part of all doubles, which precedes each of them: finds addresses and devices on this machine, and reads
# and answers requests. The doubles need only the core modules of macOS's perl (5.34).
#
# On a machine without cables, MESHWRIGHT_LINK_TABLE names a file with lines like `10.77.0.1:51000 127.0.0.1:23211`: an
# address that can currently be reached, and its place on this machine. The file is read again for every request. The
# file `rdma-cables` next to it, or in /.sim, has one line per RDMA device of this Mac: name, IPv4 address of its GID,
# `active` or `down`, this Mac, the Mac and device at the other end, and the index of that GID (default 1). The file
# `verbs` lists failing calls, such as `alloc_pd 12`, `create_qp 16`, `rtr 22`.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use Time::HiRes ();

our $json = JSON::PP->new->utf8->canonical;
our ($beside) = ($ENV{MESHWRIGHT_LINK_TABLE} // '/.sim/link-table') =~ m{^(.*/)};
$beside //= '';
my $client_file = "${beside}rdma-clients/$$";
my %digest_of;
$| = 1;
$SIG{PIPE} = 'IGNORE';

sub read_text {
    my ($path) = @_;
    open my $file, '<', $path or return undef;
    local $/;
    return scalar <$file>;
}

# The place of an address on this machine: the address itself, or its entry in the table; undefined if unreachable.
sub place_of {
    my ($address) = @_;
    my $table = $ENV{MESHWRIGHT_LINK_TABLE} // return $address;
    return (read_text($table) // '') =~ /^\Q$address\E (\S+)$/m ? $1 : undef;
}

# Whether Local Network privacy keeps this program from other Macs: the file `lan-denied` next to the table exists.
sub is_denied { return -e "${beside}lan-denied" && $_[0] !~ /^127\./ }

# This Mac's devices, with the Mac and device at the other end of each.
sub cables {
    my %found;
    for my $line (split /\n/, read_text("${beside}rdma-cables") // '') {
        my ($device, $address, $state, $mac, $far, $far_device, $index) = split ' ', $line;
        my %own = (address => $address, state => $state, mac => $mac, far => "$far $far_device");
        # mlx, which exo contains, sends only from index 1: there, RTR fails with errno 22.
        $found{$device} = { %own, is_usable => $address ne '-' && ($index // 1) == 1 ? 1 : 0 };
    }
    return \%found;
}

# The two addresses of a cable are in the same /30.
sub same_cable {
    my @blocks = map { /^(.*)\.([0-9]+)$/ ? "$1." . int($2 / 4) : $_ } @_;
    return $blocks[0] eq $blocks[1];
}

# Reports that this program sends TCP over cables to a simulated Mac that then panics.
sub say_tcp {
    return if !-e "${beside}tcp-panics";
    defined(my $child = fork) or return;
    if (!$child) {
        @ARGV = ('/', 'note', 'tcp-load');
        do "${beside}ask";
        exit 0;
    }
    waitpid $child, 0;
}

# The errno with which this call of the verbs library fails here; undefined if it does not fail.
sub failing {
    my ($call) = @_;
    my ($errno) = (read_text("${beside}verbs") // '') =~ /^\Q$call\E ([0-9]+)$/m;
    return $errno;
}

# Writes this process's protection domains and queue pairs per device into a file that the simulated kernel reads. If
# the process is stopped by KILL, the file remains.
sub say_devices {
    my (%count) = @_;
    return unlink $client_file if !%count;
    open my $file, '>', $client_file or return;
    print {$file} program_name(), map { "$_ $count{$_} $count{$_}\n" } sort keys %count;
    close $file;
}

sub program_name {
    open my $name, '<', "/proc/$$/comm" or return ($^X =~ m{([^/]*)\z})[0] . "\n";
    return scalar <$name>;
}

END { unlink $client_file if $client_file =~ m{/$$\z} }

# Sorted relative paths of all files below a folder, except meshwright's own files, which are not part of the model.
sub files_below {
    my ($folder, $prefix) = @_;
    opendir my $entries, $folder or die "$folder: $!\n";
    my @found;
    for my $name (sort grep { !/^(\.\.?|\.meshwright.*)$/ } readdir $entries) {
        push @found, -d "$folder/$name" ? files_below("$folder/$name", "$prefix$name/") : "$prefix$name";
    }
    return @found;
}

# One digest of all files of a model. Unchanged files are not read again.
sub digest_below {
    my ($model) = @_;
    my @lines;
    for my $path (files_below($model, '')) {
        my @status = Time::HiRes::stat("$model/$path") or return undef;
        my $stamp = join ' ', @status[1, 7, 9, 10];
        if (!$digest_of{$path} || $digest_of{$path}[0] ne $stamp) {
            $digest_of{$path} = [$stamp, Digest::SHA->new(256)->addfile("$model/$path", 'b')->hexdigest];
        }
        push @lines, "$path $digest_of{$path}[1]\n";
    }
    return sha256_hex(join '', @lines);
}

# Method, target and body of a request; empty if there is none.
sub read_request {
    my ($client) = @_;
    my ($method, $target) = split ' ', <$client> // return;
    return unless defined $target;
    my $length = 0;
    while (defined(my $line = <$client>)) {
        last if $line =~ /^\r?\n$/;
        $length = $1 if $line =~ /^content-length:\s*([0-9]{1,8})\s*$/i;
    }
    read($client, my $body, $length);
    return ($method, $target, $body);
}

sub say_json {
    my ($client, $status, $value) = @_;
    my %words = (200 => 'OK', 400 => 'Bad Request', 404 => 'Not Found', 422 => 'Unprocessable Entity', 503 => 'Service Unavailable');
    my $body = $json->encode($value);
    print {$client} "HTTP/1.1 $status $words{$status}\r\nContent-Type: application/json\r\n",
        'Content-Length: ', length $body, "\r\nConnection: close\r\n\r\n", $body;
}

# Number of tokens in an answer: as requested, but at most eight. Each token has eight hexadecimal digits.
sub tokens_of {
    my $wanted = $_[0]{max_tokens} // 8;
    return $wanted =~ /^[0-9]+$/ && $wanted < 8 ? $wanted : 8;
}

sub usage { return { prompt_tokens => 1, completion_tokens => 0 + $_[0], total_tokens => 1 + $_[0] } }

sub completion {
    my ($model, $text, $tokens) = @_;
    my $finish = $tokens < 8 ? 'length' : 'stop';
    my $choice = { index => 0, message => { role => 'assistant', content => $text }, finish_reason => $finish };
    my %head = (id => "chatcmpl-$$", object => 'chat.completion', created => time, model => $model);
    return { %head, choices => [$choice], usage => usage($tokens) };
}

# Sends the answer as events, one token each with short pauses, and the token count at the end.
sub say_stream {
    my ($client, $model, $text, $tokens) = @_;
    print {$client} "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    my %head = (id => "chatcmpl-$$", object => 'chat.completion.chunk', created => time, model => $model);
    for my $token ($text =~ /(.{1,8})/g) {
        Time::HiRes::sleep(0.002);
        print {$client} 'data: ', $json->encode({ %head, choices => [{ index => 0, delta => { content => $token } }] }), "\n\n";
    }
    print {$client} 'data: ', $json->encode({ %head, choices => [], usage => usage($tokens) }), "\n\ndata: [DONE]\n\n";
}

