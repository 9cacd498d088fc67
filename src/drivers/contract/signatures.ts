import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from './driver.ts';

/** Builds the list of known messages from a table by id, in matching order. */
export const signaturesOf = (
  byId: Readonly<Record<string, Omit<FailureSignature, 'id'>>>,
): readonly FailureSignature[] => Object.entries(byId).map(([id, rest]) => ({ id, ...rest }));

/**
 * JACCL failures in the log of any runtime built with mlx. The first pattern that matches a line wins.
 *
 * @see mlx/distributed/jaccl of mlx 0.32 for the messages; issues 3777, 3910, 4191, 4209 and 4530 of ml-explore/mlx and
 * 1847 of exo for their causes
 */
export const jacclSignatures = signaturesOf({
  'device-denied': {
    pattern:
      /(?:Changing queue pair to (?:INIT|RTR|RTS)|Creating the queue pair) failed with (?:errno (?:1|13)\b|'[^']*\((?:1|13)\)')/,
    meaning: 'macOS does not let this account use an RDMA device.',
    action: 'change-file',
    cure: 'Run the ranks as a different account (`system.accounts.ranks`).',
  },
  'no-ipv4-gid': {
    pattern: /No IPv4-mapped GID/,
    meaning: 'A cable interface has no IPv4 address or is part of the Thunderbolt Bridge.',
    action: 'apply',
    cure: 'Let apply set the cable addresses and remove the bridge.',
  },
  'rtr-errno-22': {
    pattern: /Changing queue pair to RTR failed with errno 22\b/,
    meaning:
      "mlx cannot use an RDMA device's GID: the cable has no IPv4 address, is in a bridge, or has stale state, or the GID is not at index 1.",
    action: 'apply',
    cure: prose`If \`${aside(meshwright('doctor'))}\` names a GID index, use transport: tcp or a llamacpp-rpc runtime. Otherwise, let apply set the cable addresses and start again; if the error returns, restart all of the placement's Macs.`,
  },
  'errno-60': {
    pattern: /(?:Changing queue pair to RTR|Recv|Send) failed with errno[ =]60\b/,
    meaning:
      'The Mac at the other end of a cable did not answer: the cable is not the expected one, or the rank timed out.',
    action: 'check-cable',
    cure: prose`Compare the cables with the file (\`${aside(meshwright('cables'))}\`).`,
    isUnreached: true,
  },
  'rtr-errno': {
    pattern: /Changing queue pair to (?:INIT|RTR|RTS) failed with errno \d+/,
    meaning: 'An RDMA queue pair could not be connected.',
    action: 'apply',
    cure: prose`Check the cables and their addresses (\`${aside(meshwright('doctor'))}\`); if the error returns, restart all of the placement's Macs.`,
  },
  'recv-errno-2': {
    pattern: /Recv failed with errno=2\b/,
    meaning: 'Another rank stopped while the group was forming; the error number itself means nothing.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`).`,
  },
  'queue-pairs-spent': {
    pattern: /(?:Creating the queue pair failed with (?:'[^']*\(16\)'|errno 16\b)|create_qp\b.*\berrno[ =]16\b)/,
    meaning: 'The RDMA device has no queue pair left.',
    action: 'reboot',
    cure: 'Stop other programs that use RDMA on this Mac, or restart it; each further attempt uses up one more queue pair.',
  },
  'queue-pair-refused': {
    pattern: /Creating the queue pair failed with |Couldn't create completion queue/,
    meaning: 'The RDMA device refused this rank a queue pair or completion queue.',
    action: 'reboot',
    cure: 'Stop other programs that use RDMA on this Mac, or restart it.',
  },
  'protection-domain': {
    pattern: /Couldn't allocate protection domain/,
    meaning: "An RDMA device's port is down, or repeated starts used up its protection domains.",
    action: 'reboot',
    cure: prose`Check the cable (\`${aside(meshwright('doctor'))}\`); if its port is active, restart the Mac.`,
  },
  'no-device': {
    pattern: /Could not find device \S+ \(\d+ available\)/,
    meaning: 'An RDMA device that this rank needs is missing: it was renamed, or RDMA is off.',
    action: 'apply',
    cure: 'Start again, which reads the device names again; if the log says 0 available, RDMA is off.',
  },
  'device-shut': {
    pattern: /Could not open device \S+/,
    meaning: 'An RDMA device that this rank needs exists but cannot be opened.',
    action: 'reboot',
    cure: prose`Check RDMA on this Mac (\`${aside(meshwright('doctor'))}\`); if nothing is wrong, restart the Mac. If the error remains, the ranks' account (\`system.accounts.ranks\`) may lack access.`,
  },
  'no-coordinator': {
    pattern: /Couldn't connect \(error: (?:60|61|64|65)\)/,
    meaning: 'The leader did not listen in time, or something between the Macs blocks the connection.',
    action: 'read-other-ranks',
    cure: "Read the log of rank 0; if rank 0 is waiting, check its Mac's firewall.",
    isUnreached: true,
  },
  'no-own-address': {
    pattern: /Couldn't bind socket \(error: 49\)/,
    meaning: 'This Mac no longer has the address that the ranks connect to.',
    action: 'apply',
    cure: 'Start again, which reads the addresses again.',
  },
  'port-taken': {
    pattern: /Couldn't bind socket \(error: 48\)|\[Errno 48\] Address already in use/,
    meaning: 'Another program listens on a port of this rank.',
    action: 'restart',
    cure: 'Start again, which picks a different port; if the endpoint port is taken, give the placement a different one.',
  },
  'foreign-connection': {
    pattern: /(?:Recv|Send) failed with errno[ =]\d+/,
    meaning:
      'A connection broke during the start: another rank stopped, or another program connected to the coordinator.',
    action: 'read-other-ranks',
    cure: 'Read the logs of the other ranks, and do not probe the ports that ranks use.',
  },
  'work-refused': {
    pattern: /\[jaccl\] (?:Send|Recv) failed with error code \d+/,
    meaning: 'An RDMA device accepts no more work: the connection to a rank is broken.',
    action: 'restart',
    cure: prose`Restart the placement; if the error returns, restart all its Macs (\`${aside(meshwright('reboot'))}\`).`,
  },
  'register-memory': {
    pattern: /Register memory region failed/,
    meaning: 'The RDMA device cannot register more memory.',
    action: 'reboot',
    cure: 'Restart the Mac.',
  },
});

/** Metal's errors about GPU memory and GPU timeouts. */
export const gpuSignatures = signaturesOf({
  'gpu-memory': {
    pattern: /kIOGPUCommandBufferCallbackErrorOutOfMemory|\[metal::malloc\]/,
    meaning: 'The GPU ran out of memory.',
    action: 'change-file',
    cure: 'Give the placement a smaller context, fewer parallel requests, or more nodes.',
  },
  'gpu-timeout': {
    pattern: /GPU Timeout/,
    meaning: 'A GPU operation did not finish in time.',
    action: 'restart',
    cure: 'Restart the placement; if the error returns, try a different version of mlx.',
  },
});
