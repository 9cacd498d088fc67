# Connects `connections.pl` to another Mac's program through that Mac's sshd, with macOS's ssh. There, the program
# listens only on the loopback interface, and the key's line in `authorized_keys` allows only `tunnel.pl`.
#
# Files in the folder, new in every run and read for each connection: `ssh-key`, the private key; `ssh-hosts`, the Macs'
# host keys by name; `ssh-peers`, lines of NODE USER ADDRESS PORT. Each process writes its last connection's errors to
# `own/ssh-PID`.
my %ssh_of;

sub open_ssh {
  my ($peer) = @_;
  my ($line) = grep { /^\Q$peer->{name}\E / } lines("$folder/ssh-peers");
  my (undef, $user, $address, $port) = split " ", $line // return;
  $address = $peer->{address} if $peer->{address} ne "-";
  my $errors = "$folder/own/ssh-$$";
  socketpair my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC or return;
  my $pid = fork // return;
  if ($pid == 0) {
    open STDIN, "<&", $theirs;
    open STDOUT, ">&", $theirs;
    open STDERR, ">", $errors;
    # ssh takes a space in a host key file's name for the end of the name.
    chdir $folder or POSIX::_exit(127);
    my %options = (
      BatchMode => "yes", IdentitiesOnly => "yes", IdentityAgent => "none", PreferredAuthentications => "publickey",
      StrictHostKeyChecking => "yes", UserKnownHostsFile => "ssh-hosts", GlobalKnownHostsFile => "/dev/null",
      HostKeyAlias => $peer->{name}, UpdateHostKeys => "no", ConnectTimeout => 3, ServerAliveInterval => 5, LogLevel => "ERROR",
    );
    my @options = map { ("-o", "$_=$options{$_}") } sort keys %options;
    exec { $ssh } $ssh, "-F", "/dev/null", "-T", "-i", "ssh-key", @options, "-c", "aes128-gcm\@openssh.com",
      "-p", $port, "-l", $user, $address, "/usr/bin/false" or POSIX::_exit(127);
  }
  close $theirs;
  $ssh_of{ fileno $ours } = $pid;
  return $ours;
}

# Why the last connection failed. ssh ends its lines with a carriage return.
sub refusal {
  my ($last) = reverse grep { /\S/ } lines("$folder/own/ssh-$$");
  return ($last // "no answer") =~ s/\s+$//r;
}

# Closes a connection. This end's ssh exits by itself after sending everything that it received, even if this process is
# killed.
sub hang_up {
  my ($socket) = @_;
  my $number = fileno $socket;
  my $pid = delete $ssh_of{$number};
  delete $rest{$number};
  close $socket;
  return if !$pid;
  for (1 .. 40) {
    return if waitpid($pid, WNOHANG) != 0;
    sleep 0.05;
  }
  kill "KILL", $pid;
  waitpid $pid, 0;
}
