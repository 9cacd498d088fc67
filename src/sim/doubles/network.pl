# Simulates the network for Perl programs on a machine without cables, where loopback ports represent the IPv4 addresses
# of a simulated Mac. SimulatedNetwork.pm loads this file when a program first calls bind, connect, getsockname or
# getpeername. UDP and IPv6 sockets are not redirected, nor are calls that name the built-in function, such as
# `CORE::connect`.
#
# The `link-table` file in the same folder contains lines like `10.77.0.1:51000 127.0.0.1:23211`: an address that is
# currently reachable, and the loopback port that represents it. The `link-reach` file contains lines like
# `own 10.77.0.1` and `far 10.77.0.2`: this Mac's own addresses, and the addresses that it reaches over a cable or the
# office network. Cables and addresses can change at any time, so every call rereads both files.
package SimulatedNetwork;
use strict;
use Errno qw(EADDRINUSE EADDRNOTAVAIL ECONNREFUSED EHOSTUNREACH EINTR);
use Socket qw(AF_INET INADDR_LOOPBACK PF_UNIX SOCK_STREAM SOL_SOCKET SO_TYPE);
use Symbol ();
our ($folder, $simulator);
my $loopback = '127.0.0.1';

# A handle may be a bareword, which is a name in the caller's package.
sub handle_of { Symbol::qualify_to_ref($_[0], scalar caller 1) }

sub read_text {
    open my $file, '<:raw', "$folder/$_[0]" or return '';
    sysread $file, my $text, -s $file;
    return $text // '';
}

# Returns the address and port from the packed IPv4 address of a TCP socket; empty for other sockets and addresses.
sub named {
    my ($socket, $packed) = @_;
    return if length($packed // '') != 16 || Socket::sockaddr_family($packed) != AF_INET;
    return if unpack('i', getsockopt($socket, SOL_SOCKET, SO_TYPE) // return) != SOCK_STREAM;
    my ($port, $address) = Socket::unpack_sockaddr_in($packed);
    return (Socket::inet_ntoa($address), $port);
}

# Returns the loopback port that represents an address. The doubles of the runtimes read the table themselves, so a
# loopback port in the table also represents itself.
sub place_of {
    my ($address, $port) = @_;
    my $table = read_text('link-table');
    return $1 if $table =~ /^\Q$address:$port\E [0-9.]+:([0-9]+)$/m;
    return $address eq $loopback && $table =~ / \Q$address:$port\E$/m ? $port : undef;
}

sub at_loopback { Socket::pack_sockaddr_in($_[0], INADDR_LOOPBACK) }

# Whether this Mac has the address (own), or reaches it over a cable or the office network (far).
sub has {
    my ($kind, $address) = @_;
    return read_text('link-reach') =~ /^$kind \Q$address\E$/m;
}

sub failed {
    $! = $_[0];
    return undef;
}

# Makes the simulator add an address to the tables of all Macs that can reach the address.
sub announce {
    my $words = join "\0", $ENV{MW_SIM} // '', '', '/', 'note', 'listen', $_[0];
    socket my $asked, PF_UNIX, SOCK_STREAM, 0 or return;
    CORE::connect($asked, Socket::pack_sockaddr_un($simulator)) or return;
    syswrite $asked, length($words) . "\n$words";
    1 until defined sysread($asked, my $answer, 16) || $! != EINTR;
}

# Returns the loopback port that represents one of this Mac's addresses. If the address has no loopback port yet, the
# simulator assigns one.
sub place_at {
    my ($address, $port) = @_;
    my $is_any = $address eq '0.0.0.0';
    my $place = $is_any ? undef : place_of($address, $port);
    return $place if defined $place;
    announce("$address:$port");
    return place_of($is_any ? $loopback : $address, $port);
}

# Binds to a free port, as if the system had chosen the port. @see macOS's sysctl net.inet.ip.portrange.first for the
# first port
sub bind_free {
    my ($socket, $address) = @_;
    for my $port (49_152 .. 65_535) {
        my $place = place_at($address, $port) // return failed(EADDRNOTAVAIL);
        return 1 if CORE::bind($socket, at_loopback($place));
        return if $! != EADDRINUSE;
    }
    return;
}

# If a program binds port 0 of the loopback address or of all addresses, the system chooses a port that no other Mac can
# reach.
sub redirected_bind {
    my ($socket, $packed) = (handle_of($_[0]), $_[1]);
    my ($address, $port) = named($socket, $packed) or return CORE::bind($socket, $packed);
    my $is_own = $address ne '0.0.0.0' && $address ne $loopback;
    return failed(EADDRNOTAVAIL) if $is_own && !has(own => $address);
    return $is_own ? bind_free($socket, $address) : CORE::bind($socket, at_loopback(0)) if $port == 0;
    return CORE::bind($socket, at_loopback(place_at($address, $port) // return failed(EADDRNOTAVAIL)));
}

# A Mac refuses a connection to a port on which no process listens. If no cable leads to the address, a real Mac reports
# "No route to host" after ARP gives up; this function reports the error immediately. A simulated Mac that is off has no
# processes, so connections to it are refused.
sub redirected_connect {
    my ($socket, $packed) = (handle_of($_[0]), $_[1]);
    my ($address, $port) = named($socket, $packed) or return CORE::connect($socket, $packed);
    $address = $loopback if $address eq '0.0.0.0';
    my $place = place_of($address, $port);
    return CORE::connect($socket, at_loopback($place)) if defined $place;
    return failed($address eq $loopback || has('(?:own|far)', $address) ? ECONNREFUSED : EHOSTUNREACH);
}

# Returns the address that a loopback port represents in this Mac's table. The far end of an accepted connection has
# such an address only if the far end was bound to it.
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
