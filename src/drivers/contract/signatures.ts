import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from './driver.ts';

/**
 * What mlx says of JACCL, whoever is built with it. The first one that a line matches is meant.
 *
 * @see mlx/distributed/jaccl of mlx 0.32 for the words; issues 3777, 3910, 4191, 4209 and 4530 of ml-explore/mlx and
 * 1847 of exo for what they mean
 */
export const jacclSignatures: readonly FailureSignature[] = [
  {
    id: 'device-denied',
    pattern:
      /(?:Changing queue pair to (?:INIT|RTR|RTS)|Creating the queue pair) failed with (?:errno (?:1|13)\b|'[^']*\((?:1|13)\)')/,
    meaning: 'macOS does not let this account use an RDMA device.',
    action: 'change-file',
    cure: 'Run the ranks as another account (system.accounts.ranks in the file).',
  },
  {
    id: 'no-ipv4-gid',
    pattern: /No IPv4-mapped GID/,
    meaning: 'The interface of a cable has no IPv4 address, or is a member of the Thunderbolt Bridge.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables and take the bridge away.',
  },
  {
    id: 'rtr-errno-22',
    pattern: /Changing queue pair to RTR failed with errno 22\b/,
    meaning:
      'The GID of a device is missing or not where mlx looks for it: no IPv4 address on the cable, a bridge, or rests.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables again and start once more; if it comes back, restart all members.',
  },
  {
    id: 'errno-60',
    pattern: /(?:Changing queue pair to RTR|Recv|Send) failed with errno[ =]60\b/,
    meaning: 'The Mac at the other end of a cable does not answer: another cable than the matrix says, or a timeout.',
    action: 'check-cable',
    cure: prose`Compare the cables with the file (\`${aside(meshwright('cables'))}\`).`,
    isUnreached: true,
  },
  {
    id: 'rtr-errno',
    pattern: /Changing queue pair to (?:INIT|RTR|RTS) failed with errno \d+/,
    meaning: 'A queue pair could not be connected.',
    action: 'apply',
    cure: prose`Look at the cables and their addresses (\`${aside(meshwright('doctor'))}\`); if it comes back, restart all members.`,
  },
  {
    id: 'recv-errno-2',
    pattern: /Recv failed with errno=2\b/,
    meaning: 'Another rank ended while the group was coming together; the number itself is a leftover.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`).`,
  },
  {
    id: 'queue-pairs-spent',
    pattern: /(?:Creating the queue pair failed with (?:'[^']*\(16\)'|errno 16\b)|create_qp\b.*\berrno[ =]16\b)/,
    meaning: 'The RDMA device has no queue pair left.',
    action: 'reboot',
    cure: 'Stop what else uses RDMA on this Mac, else restart it; trying again takes one more each time.',
  },
  {
    id: 'queue-pair-refused',
    pattern: /Creating the queue pair failed with |Couldn't create completion queue/,
    meaning: 'The RDMA device gave this rank nothing to talk by.',
    action: 'reboot',
    cure: 'Stop what else uses RDMA on this Mac, else restart it.',
  },
  {
    id: 'protection-domain',
    pattern: /Couldn't allocate protection domain/,
    meaning: 'The port of an RDMA device is down, or too many starts have used its protection domains up.',
    action: 'reboot',
    cure: prose`Look at the cable (\`${aside(meshwright('doctor'))}\`); if its port is active, restart the Mac.`,
  },
  {
    id: 'no-device',
    pattern: /Could not find device \S+ \(\d+ available\)/,
    meaning: 'An RDMA device of the matrix is not on this Mac: it was renamed, or RDMA is off.',
    action: 'apply',
    cure: 'Start anew, since every start asks for the names again; with none available RDMA is off.',
  },
  {
    id: 'device-shut',
    pattern: /Could not open device \S+/,
    meaning: 'An RDMA device of the matrix is there and does not open.',
    action: 'reboot',
    cure: prose`Look at RDMA on this Mac (\`${aside(meshwright('doctor'))}\`); if nothing is wrong there, restart it. If it stays so, the account of the ranks (system.accounts.ranks) may not open it.`,
  },
  {
    id: 'no-coordinator',
    pattern: /Couldn't connect \(error: (?:60|61|64|65)\)/,
    meaning: 'The leader did not listen in time, or something between the Macs lets nobody through.',
    action: 'read-other-ranks',
    cure: 'Read the log of rank 0; if it waits there, look at the firewall of its Mac.',
    isUnreached: true,
  },
  {
    id: 'no-own-address',
    pattern: /Couldn't bind socket \(error: 49\)/,
    meaning: 'The address at which the ranks are to meet is not on this Mac any more.',
    action: 'apply',
    cure: 'Start anew, since every start asks for the addresses again.',
  },
  {
    id: 'port-taken',
    pattern: /Couldn't bind socket \(error: 48\)|\[Errno 48\] Address already in use/,
    meaning: 'Something else listens on a port of this rank.',
    action: 'restart',
    cure: 'Start anew, which takes another port; if it is the port of the endpoint, give the placement another one.',
  },
  {
    id: 'foreign-connection',
    pattern: /(?:Recv|Send) failed with errno[ =]\d+/,
    meaning: 'A connection of the start broke: another rank ended, or somebody else connected to the coordinator.',
    action: 'read-other-ranks',
    cure: 'Read the logs of the other ranks, and let nothing probe the ports of a start.',
  },
  {
    id: 'work-refused',
    pattern: /\[jaccl\] (?:Send|Recv) failed with error code \d+/,
    meaning: 'An RDMA device took no more work: the connection to a rank is broken.',
    action: 'restart',
    cure: prose`Restart the placement; if it comes back, restart all members (\`${aside(meshwright('reboot'))}\`).`,
  },
  {
    id: 'register-memory',
    pattern: /Register memory region failed/,
    meaning: 'The RDMA device takes no more memory.',
    action: 'reboot',
    cure: 'Restart the Mac.',
  },
];

/** What Metal says of the memory and the time of a GPU. */
export const gpuSignatures: readonly FailureSignature[] = [
  {
    id: 'gpu-memory',
    pattern: /kIOGPUCommandBufferCallbackErrorOutOfMemory|\[metal::malloc\]/,
    meaning: 'The GPU ran out of memory.',
    action: 'change-file',
    cure: 'Give the placement less context, fewer requests at once, or more nodes.',
  },
  {
    id: 'gpu-timeout',
    pattern: /GPU Timeout/,
    meaning: 'An operation of the GPU did not end in time.',
    action: 'restart',
    cure: 'Restart the placement; if it comes back, try another version of mlx.',
  },
];
