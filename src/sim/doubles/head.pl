#!/usr/bin/perl
# What all doubles share, put before each of them: where addresses and devices are to be found on this machine, and how
# requests are read and answered. They run on the perl that macOS ships (5.34) with core modules only.
#
# On a machine without cables MESHWRIGHT_LINK_TABLE names a file of lines `10.77.0.1:51000 127.0.0.1:23211`: what can be
# reached now, and where. It is read again for every request. Beside it, or in /.sim, `rdma-cables` has the RDMA devices of
# this Mac, one line each: name, IPv4 address of its GID, `active` or `down`, this Mac, and the Mac and the device that it
# leads to; `verbs` has calls that fail: `alloc_pd 12`, `create_qp 16`, `rtr 22`.
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

# Where an address is to be found on this machine: itself, or what the table says. Undefined when it is out of reach.
sub place_of {
    my ($address) = @_;
    my $table = $ENV{MESHWRIGHT_LINK_TABLE} // return $address;
    my ($place) = map { /^\Q$address\E (\S+)$/ ? $1 : () } split /\n/, read_text($table) // '';
    return $place;
}

# What the devices of this Mac lead to.
sub cables {
    my %found;
    for my $line (split /\n/, read_text("${beside}rdma-cables") // '') {
        my ($device, $address, $state, $mac, $far, $far_device) = split ' ', $line;
        $found{$device} = { address => $address, state => $state, mac => $mac, far => "$far $far_device" };
    }
    return \%found;
}

# The number of the error with which a call of the verbs library fails here; undefined where it does not.
sub failing {
    my ($call) = @_;
    my ($errno) = (read_text("${beside}verbs") // '') =~ /^\Q$call\E ([0-9]+)$/m;
    return $errno;
}

# Says how many protection domains and queue pairs of each device this process has, from where the simulated kernel takes
# it. A process that KILL ends leaves the file there.
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

# Every file below a folder, relative, sorted; what meshwright itself keeps there is not part of the model.
sub files_below {
    my ($folder, $prefix) = @_;
    opendir my $entries, $folder or die "$folder: $!\n";
    my @found;
    for my $name (sort grep { !/^(\.\.?|\.meshwright.*)$/ } readdir $entries) {
        push @found, -d "$folder/$name" ? files_below("$folder/$name", "$prefix$name/") : "$prefix$name";
    }
    return @found;
}

# One digest over all files of a model. A file that has not changed since is not read again.
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

# Method, target and body of a request; nothing where none comes.
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

# How many tokens an answer has: what was asked for, and eight at most, of eight hexadecimal digits each.
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

# The answer as events, a token each and a moment apart, with the count at the end.
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

