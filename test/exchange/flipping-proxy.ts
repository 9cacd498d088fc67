/**
 * A proxy before a Mac, for perl: flips the last bit of the first chunks that pass. Arguments: its own address, the
 * Mac's address, the port of both, and the number of chunks to change. It prints `up` and then the number of each chunk that it changed.
 */
export const flippingProxy = String.raw`use strict;
use IO::Socket::INET;
use IO::Select;
$| = 1;
$SIG{CHLD} = 'IGNORE';
my ($own, $far, $port, $most) = @ARGV;
my $server = IO::Socket::INET->new(LocalAddr => $own, LocalPort => $port, Listen => 9, ReuseAddr => 1) or die "$!\n";
print "up\n";
while (my $client = $server->accept) {
  my $to = IO::Socket::INET->new(PeerAddr => $far, PeerPort => $port) or next;
  my ($asked, $line, $left, @numbers) = ('', '', 0);
  my $both = IO::Select->new($client, $to);
  for (;;) {
    my $is_open = 1;
    for my $from ($both->can_read) {
      sysread $from, my $bytes, 65536 or do { $is_open = 0; last };
      if ($from == $client) {
        $asked .= $bytes;
        while ($asked =~ s/^([^\n]*)\n//) { push @numbers, $1 =~ /^chunk (\d+)$/ }
        print $to $bytes;
        $to->flush;
        next;
      }
      for (my $at = 0; $at < length $bytes;) {
        if ($left > 0) {
          my $size = $left < length($bytes) - $at ? $left : length($bytes) - $at;
          ($at, $left) = ($at + $size, $left - $size);
          next if $left > 0;
          my $i = shift @numbers;
          next if $most-- < 1;
          substr($bytes, $at - 1, 1) ^= "\1";
          print "$i\n";
          next;
        }
        my $end = index $bytes, "\n", $at;
        $line .= substr $bytes, $at, ($end < 0 ? length $bytes : $end) - $at;
        last if $end < 0;
        $at = $end + 1;
        $left = $1 if $line =~ /^chunk (\d+)$/;
        shift @numbers if $line eq 'none';
        $line = '';
      }
      print $client $bytes;
      $client->flush;
    }
    last if !$is_open;
  }
  close $_ for $client, $to;
}`;
