# The network for Perl programs on a machine without cables, where a simulated Mac's IPv4 addresses are loopback ports
# on this machine. SimulatedNetwork.pm loads this file at a program's first bind, connect, getsockname or getpeername.
# UDP and IPv6 sockets are not redirected, nor are calls that name the built-in function (`CORE::connect`).
#
# The file `link-table` next to it contains lines like `10.77.0.1:51000 127.0.0.1:23211`: an address that can currently
# be reached, and its place on this machine. `link-reach` contains lines like `own 10.77.0.1` and `far 10.77.0.2`: this
# Mac's own addresses, and those that it reaches over a cable or the office network. Cables and addresses can change at
# any time, so every call rereads both files.
package SimulatedNetwork;
use strict;
use Errno qw(EADDRINUSE EADDRNOTAVAIL ECONNREFUSED EHOSTUNREACH EINTR);
use Socket qw(AF_INET INADDR_LOOPBACK PF_UNIX SOCK_STREAM SOL_SOCKET SO_TYPE);
use Symbol ();
our ($folder, $simulator);
my $loopback = '127.0.0.1';

# Handles may be barewords, which belong to the caller's package.
sub handle_of { Symbol::qualify_to_ref($_[0], scalar caller 1) }

sub read_text {
    open my $file, '<:raw', "$folder/$_[0]" or return '';
    sysread $file, my $text, -s $file;
    return $text // '';
}

# The address and port in a TCP socket's packed IPv4 address; empty for everything else.
sub named {
    my ($socket, $packed) = @_;
    return if length($packed // '') != 16 || Socket::sockaddr_family($packed) != AF_INET;
    return if unpack('i', getsockopt($socket, SOL_SOCKET, SO_TYPE) // return) != SOCK_STREAM;
    my ($port, $address) = Socket::unpack_sockaddr_in($packed);
    return (Socket::inet_ntoa($address), $port);
}

# The loopback port that represents an address. The runtimes' doubles read the table themselves, so a place in the table
# also represents itself.
sub place_of {
    my ($address, $port) = @_;
    my $table = read_text('link-table');
    return $1 if $table =~ /^\Q$address:$port\E [0-9.]+:([0-9]+)$/m;
    return $address eq $loopback && $table =~ / \Q$address:$port\E$/m ? $port : undef;
}

sub at_loopback { Socket::pack_sockaddr_in($_[0], INADDR_LOOPBACK) }

# Whether this Mac has the address (own), or one of its cables leads there (far).
sub has {
    my ($kind, $address) = @_;
    return read_text('link-reach') =~ /^$kind \Q$address\E$/m;
}

sub failed {
    $! = $_[0];
    return undef;
}

# Has the simulator add the address to the tables of all Macs that can reach it.
sub announce {
    my $words = join "\0", $ENV{MW_SIM} // '', '', '/', 'note', 'listen', $_[0];
    socket my $asked, PF_UNIX, SOCK_STREAM, 0 or return;
    CORE::connect($asked, Socket::pack_sockaddr_un($simulator)) or return;
    syswrite $asked, length($words) . "\n$words";
    1 until defined sysread($asked, my $answer, 16) || $! != EINTR;
}

# The loopback port that represents one of this Mac's addresses; an address without a port gets one.
sub place_at {
    my ($address, $port) = @_;
    my $is_any = $address eq '0.0.0.0';
    my $place = $is_any ? undef : place_of($address, $port);
    return $place if defined $place;
    announce("$address:$port");
    return place_of($is_any ? $loopback : $address, $port);
}

# Binds to a port that the system chooses. @see macOS's sysctl net.inet.ip.portrange.first for the first port
sub bind_free {
    my ($socket, $address) = @_;
    for my $port (49_152 .. 65_535) {
        my $place = place_at($address, $port) // return failed(EADDRNOTAVAIL);
        return 1 if CORE::bind($socket, at_loopback($place));
        return if $! != EADDRINUSE;
    }
    return;
}

# If the system chooses the port (0) for the loopback address or for all addresses, no other Mac can reach the port.
sub redirected_bind {
    my ($socket, $packed) = (handle_of($_[0]), $_[1]);
    my ($address, $port) = named($socket, $packed) or return CORE::bind($socket, $packed);
    my $is_own = $address ne '0.0.0.0' && $address ne $loopback;
    return failed(EADDRNOTAVAIL) if $is_own && !has(own => $address);
    return $is_own ? bind_free($socket, $address) : CORE::bind($socket, at_loopback(0)) if $port == 0;
    return CORE::bind($socket, at_loopback(place_at($address, $port) // return failed(EADDRNOTAVAIL)));
}

# A Mac refuses a connection to a port on which no process listens. If no cable leads to the address, the Mac reports
# "No route to host" once ARP gives up; here, the error comes immediately. A Mac that is off has no processes, so
# connections to it are refused.
sub redirected_connect {
    my ($socket, $packed) = (handle_of($_[0]), $_[1]);
    my ($address, $port) = named($socket, $packed) or return CORE::connect($socket, $packed);
    $address = $loopback if $address eq '0.0.0.0';
    my $place = place_of($address, $port);
    return CORE::connect($socket, at_loopback($place)) if defined $place;
    return failed($address eq $loopback || has('(?:own|far)', $address) ? ECONNREFUSED : EHOSTUNREACH);
}

# The name of a loopback port in this Mac's table. The far end of an accepted connection has a name only if it was
# bound.
sub renamed {
    my ($socket, $packed) = @_;
    my ($address, $port) = named($socket, $packed) or return $packed;
    return $packed if $address ne $loopback;
    my ($name, $known) = read_text('link-table') =~ /^([0-9.]+):([0-9]+) \Q$address:$port\E$/m or return $packed;
    return Socket::pack_sockaddr_in($known, Socket::inet_aton($name));
}

sub redirected_getsockname {
    my $socket = handle_of($_[0]);
    return renamed($socket, CORE::getsockname($socket));
}

sub redirected_getpeername {
    my $socket = handle_of($_[0]);
    return renamed($socket, CORE::getpeername($socket));
}

1;
