# Connects `connections.pl` to the program on another Mac through that Mac's sshd, using macOS's ssh. The program on the
# other Mac listens only on the loopback interface, and the key's line in `authorized_keys` allows the key to run only
# `tunnel.pl`.
#
# These files in the folder are rewritten for every run and read for each connection: `ssh-key` contains the private
# key, `ssh-hosts` contains the Macs' host keys by name, and `ssh-peers` contains lines of the form NODE USER ADDRESS
# PORT. Each process writes the errors of its last connection to `own/ssh-PID`.
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
    # Use relative file names, because ssh treats a space in the path of a host key file as the end of the path.
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

# Returns why the last connection failed, without the carriage return at the end of the line that ssh printed.
sub refusal {
  my ($last) = reverse grep { /\S/ } lines("$folder/own/ssh-$$");
  return ($last // "no answer") =~ s/\s+$//r;
}

# Closes a connection. Even if this process is killed, the ssh process at this end exits by itself once it has sent
# everything that it received.
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
