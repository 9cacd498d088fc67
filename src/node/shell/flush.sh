# `flush FILE …` flushes files and folders to disk, so their contents survive a power loss; `flush_tree FOLDER` flushes
# everything in a folder. After an fsync, the bytes may still be only in the drive's cache. fcntl 51 (F_FULLFSYNC)
# flushes this cache for the whole drive, so one call after the last fsync is enough. Linux and some volumes do not
# support F_FULLFSYNC, so fsync must suffice there. See fsync(2) and fcntl(2) of macOS. If perl does not work, sync(8)
# is the only option.
#
# Prints: nothing; fails with flush
flusher='use strict;
use Errno;
use IO::Handle;
my $last;
for (@ARGV) {
  open $last, "<", $_ or die "$_: $!\n";
  open my $same, ">&=", fileno $last or die "$_: $!\n";
  $same->sync or die "$_: $!\n";
}
fcntl $last, 51, 0 or $!{EINVAL} or $!{ENOTSUP} or $!{EOPNOTSUPP} or $!{ENOTTY} or die "$ARGV[-1]: $!\n";'
unflushed() {
  if ! "$R/usr/bin/perl" -e 0 2>/dev/null && "$R/bin/sync" 2>/dev/null; then return 0; fi
  failed flush "${o:-the files could not be flushed}"
}
flush() {
  o=$("$R/usr/bin/perl" -e "$flusher" -- "$@" 2>&1) || unflushed
}
flush_tree() {
  o=$("$R/usr/bin/find" "$1" '(' -type f -o -type d ')' -exec "$R/usr/bin/perl" -e "$flusher" -- '{}' + 2>&1) || unflushed
}
