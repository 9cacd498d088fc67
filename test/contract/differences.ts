import type { SimHost } from './sim-host.ts';

/** Something that one of the hosts does not have, and why. */
export interface Difference {
  readonly what: string;
  readonly missingOn: SimHost;
  /** What is there instead, and why it cannot be more. */
  readonly why: string;
}

/** Every difference between the hosts that a test may meet; all that is not here, the contract demands of both. */
export const differences: readonly Difference[] = [
  {
    what: 'an empty root prefix',
    missingOn: 'portable',
    why: 'a folder stands for `/`: without root nobody can change the root of a process',
  },
  {
    what: 'root, uid 501 and owners of files',
    missingOn: 'portable',
    why: 'one user owns everything; sudo and chown are modelled',
  },
  {
    what: 'data between link addresses as they are',
    missingOn: 'portable',
    why: 'the addresses are those of one machine; a table leads runtimes and curl to its loopback ports instead',
  },
  {
    what: 'speed of cables',
    missingOn: 'portable',
    why: 'the loopback interface has none; 80 Gb/s are 800 Mb/s on the namespace host',
  },
  {
    what: 'silence of a Mac without current',
    missingOn: 'portable',
    why: 'its sockets are those of this machine, whose kernel says that they are closed',
  },
  {
    what: 'the interface that carries the connection',
    missingOn: 'portable',
    why: 'every connection comes over the loopback interface of this machine',
  },
  {
    what: 'process numbers that begin with 1, and nothing but the own processes in `/proc`',
    missingOn: 'portable',
    why: 'the process table is that of this machine; `ps` and `kill` ask for the mark of the node',
  },
  {
    what: 'the reading of every script before it runs, and refusal of what bash 3.2 cannot parse',
    missingOn: 'namespace',
    why: 'only sshd sees the commands; a tool that a Mac lacks is absent there, which is the stricter half',
  },
  {
    what: 'a hold on the answer of a command until a test has looked (`onExec`), and how each command ended',
    missingOn: 'namespace',
    why: 'the channel is encrypted between sshd and the client; what was asked is kept, and ends are known to both alone',
  },
  {
    what: 'counts of login attempts',
    missingOn: 'namespace',
    why: 'they are inside of the encrypted connection',
  },
  {
    what: 'servers beyond the rack (`/.sim/web`)',
    missingOn: 'namespace',
    why: 'the office network ends at the controller; models come from it',
  },
  {
    what: 'frames over the Thunderbolt Bridge',
    missingOn: 'namespace',
    why: 'bridge0 is modelled on both: a real bridge over three cabled Macs would be the storm that meshwright warns of',
  },
  {
    what: 'a wall clock of its own in the kernel',
    missingOn: 'namespace',
    why: 'Linux has one for all; `date` and `sysctl` tell the time of the node on both hosts',
  },
];
