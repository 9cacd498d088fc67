import { askClientText } from '../ask/ask-client.ts';

/**
 * The program by which the tools of a node reach the simulator. Who is root is known here, and a process cannot be
 * older than the boot session that is written down: the others are all gone.
 */
export const askProgram = askClientText('/.sim/socket', {
  mark: "do { open my $f, '<', '/.sim/mark'; my $m = <$f>; chomp $m; $m }",
  isRoot: "$> ? '' : 1",
});
