/** Where the program lies in the root of a node. */
export const askClientPath = '/.sim/ask';

/** How a process of a node is refused or left alone when nobody can answer it. */
const nobodyCode = 70;

/** A text of perl that means exactly this path. */
const perlText = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** Expressions of perl about the calling process. */
interface Caller {
  /** The mark of its boot session. */
  readonly mark: string;
  /** Empty unless it is root. */
  readonly isRoot: string;
}

/** Where one user runs every process of every node, each carries what it is. */
const byEnvironment: Caller = { mark: "$ENV{MW_SIM} // ''", isRoot: "$ENV{MW_SIM_SUDO} // ''" };

/**
 * The program by which the tools of a node reach the simulator, for the perl that macOS ships. It sends the length of
 * its words and the words, separated by NUL: the mark of the process and that of the simulated sudo, then its
 * arguments (folder, tool, words). The answer is one line `EXIT OUTPUT-BYTES ERROR-BYTES`, then both texts. Sockets
 * that nobody serves refuse at once, so a tool never waits for a simulator that is gone.
 */
export const askClientText = (socketPath: string, caller: Caller = byEnvironment): string => `use strict;
use Socket;
my $words = join "\\0", ${caller.mark}, ${caller.isRoot}, @ARGV;
my $socket;
socket($socket, PF_UNIX, SOCK_STREAM, 0) && connect($socket, pack_sockaddr_un(${perlText(socketPath)})) or gone();
select((select($socket), $| = 1)[0]);
local $SIG{PIPE} = 'IGNORE';
print {$socket} length($words), "\\n", $words;
my ($exit, $out, $err) = split / /, <$socket> || gone();
read($socket, my $stdout, $out) if $out;
read($socket, my $stderr, $err) if $err + 0;
print STDOUT $stdout if $out;
print STDERR $stderr if $err + 0;
exit $exit;
sub gone { print STDERR "simulated: nobody answers for this Mac\\n"; exit ${nobodyCode} }
`;

/**
 * The program by which the tools of a node reach the simulator. Who is root is known here, and a process cannot be
 * older than the boot session that is written down: the others are all gone.
 */
export const askProgram = askClientText('/.sim/socket', {
  mark: "do { open my $f, '<', '/.sim/mark'; my $m = <$f>; chomp $m; $m }",
  isRoot: "$> ? '' : 1",
});
