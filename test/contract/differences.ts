import type { SimHost } from './sim-host.ts';

/** A feature that one of the hosts lacks, and why. */
export interface Difference {
  readonly what: string;
  readonly missingOn: SimHost;
  /** The replacement, and the reason why the feature itself is impossible. */
  readonly why: string;
}

/** Every difference between the hosts that a test may meet. The contract requires all other behavior of both. */
export const differences: readonly Difference[] = [
  {
    what: 'an empty root prefix',
    missingOn: 'portable',
    why: 'a folder represents `/`: only root can change the root of a process',
  },
  {
    what: 'root, uid 501 and file owners',
    missingOn: 'portable',
    why: 'one user owns everything; sudo and chown are modeled',
  },
  {
    what: 'data between the real link addresses',
    missingOn: 'portable',
    why: "all addresses belong to one machine; a table redirects runtimes, curl and perl to that machine's loopback ports",
  },
  {
    what: 'the address from which an accepted connection comes',
    missingOn: 'portable',
    why: 'it is 127.0.0.1, like every address of that machine; the address that was connected to is right',
  },
  {
    what: 'an effect of a pulled cable on open connections',
    missingOn: 'portable',
    why: 'they are connections within that machine; new connections fail immediately at both ends',
  },
  {
    what: 'cable speeds',
    missingOn: 'portable',
    why: 'the loopback interface has no speed limit; on the namespace host, 80 Gb/s are 800 Mb/s',
  },
  {
    what: 'the silence of a Mac without power',
    missingOn: 'portable',
    why: 'its sockets belong to this machine, whose kernel reports that they are closed',
  },
  {
    what: 'the interface that carries the connection',
    missingOn: 'portable',
    why: 'every connection uses the loopback interface of this machine',
  },
  {
    what: 'PIDs that begin with 1, and only processes of this Mac in `/proc`',
    missingOn: 'portable',
    why: "the process table is that of this machine; `ps` and `kill` check the node's mark",
  },
  {
    what: 'a check of every script before it runs, and refusal of syntax that bash 3.2 cannot parse',
    missingOn: 'namespace',
    why: 'only sshd sees the commands; a tool that a Mac lacks is absent there, which is the stricter check',
  },
  {
    what: "a delay of each answer until a test has checked it (`onExec`), and each command's exit status",
    missingOn: 'namespace',
    why: 'the channel is encrypted between sshd and the client; the request is kept, but only these two see its exit status',
  },
  {
    what: 'counts of login attempts',
    missingOn: 'namespace',
    why: 'they are part of the encrypted connection',
  },
  {
    what: 'servers outside the rack (`/.sim/web`)',
    missingOn: 'namespace',
    why: 'the office network ends at the controller, which sends the models',
  },
  {
    what: 'frames over the Thunderbolt Bridge',
    missingOn: 'namespace',
    why: 'bridge0 is modeled on both hosts: a real bridge across three cabled Macs would cause the storm that meshwright warns about',
  },
  {
    what: 'a separate wall clock in the kernel',
    missingOn: 'namespace',
    why: "Linux has one clock for all namespaces; `date` and `sysctl` print the node's time on both hosts",
  },
];
