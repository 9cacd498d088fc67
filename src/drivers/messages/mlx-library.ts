import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { macosSignatures } from './macos.ts';
import { signaturesFrom, signaturesOf } from './table.ts';

/** A failed connection in any program, also in exo's. */
export const withoutRoute = {
  meaning:
    'macOS blocked a connection to another Mac (its Local Network privacy does so), or the network was not up yet.',
  action: 'restart',
  cure: prose`Start the placement again; if the error returns, check the cable addresses (\`${aside(meshwright('doctor'))}\`), then restart that Mac (\`${aside(meshwright('reboot'))}\`).`,
} as const;

/**
 * JACCL failures in the log of any runtime built with mlx. The first pattern that matches a line wins.
 *
 * @see mlx/distributed/jaccl of mlx 0.32; issues 3777, 3910, 4191, 4209 and 4530 of ml-explore/mlx and 1847 of exo
 */
const jacclSignatures = signaturesFrom('mlx 0.32', {
  'device-denied': {
    pattern:
      /(?:Changing queue pair to (?:INIT|RTR|RTS)|Creating the queue pair) failed with (?:errno (?:1|13)\b|'[^']*\((?:1|13)\)')/,
    meaning: 'macOS does not let this account use an RDMA device.',
    action: 'change-file',
    cure: 'Run the ranks as a different account (`system.accounts.ranks`).',
  },
  'no-ipv4-gid': {
    pattern: /No IPv4-mapped GID/,
    source: 'mlx 0.32.2; mlx pull request 4191',
    meaning: 'A cable interface has no IPv4 address or is part of the Thunderbolt Bridge.',
    action: 'apply',
    cure: 'Let apply set the cable addresses and remove the bridge.',
  },
  'rtr-errno-22': {
    pattern: /Changing queue pair to RTR failed with errno 22\b/,
    source: 'mlx 0.32; mlx issue 3467; exo issues 1390 and 1847',
    meaning:
      "mlx cannot use an RDMA device's GID: the cable has no IPv4 address, is in a bridge, or has stale state, or the GID is not at index 1.",
    action: 'apply',
    cure: prose`If \`${aside(meshwright('doctor'))}\` names a GID index, use transport: tcp or a llamacpp-rpc runtime. Otherwise, let apply set the cable addresses and start again; if the error returns, restart all of the placement's Macs.`,
  },
  'rtr-errno-96': {
    pattern: /Changing queue pair to RTR failed with errno 96\b/,
    source: 'mlx 0.32; exo issue 1973',
    meaning: 'The RDMA ports have stale state: links that worked for hours fail at every model load.',
    action: 'reboot',
    cure: prose`Restart all of the placement's Macs (\`${aside(meshwright('reboot'))}\`); restarting only the runtime did not help other users.`,
  },
  'errno-60': {
    pattern: /(?:Changing queue pair to RTR|Recv|Send) failed with errno[ =]60\b/,
    source: 'mlx 0.32; exo issue 1847',
    meaning:
      'The Mac at the other end of a cable did not answer: the cable is not the expected one, or the rank timed out.',
    action: 'check-cable',
    cure: prose`Compare the cables with the file (\`${aside(meshwright('cables'))}\`); if they are right, find the one that does not answer (\`${aside(meshwright('doctor'))}\`).`,
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
    source: 'mlx 0.32; exo issue 1847',
    meaning: 'Another rank stopped while the group was forming; the error number itself means nothing.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`).`,
  },
  'queue-pairs-spent': {
    pattern: /(?:Creating the queue pair failed with (?:'[^']*\(16\)'|errno 16\b)|create_qp\b.*\berrno[ =]16\b)/,
    source: 'mlx 0.32; mlx pull request 4209: a device has ten on macOS 26.5.1',
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
    pattern: /Couldn't connect \(error: (?:54|60|61|64|104|110|111)\)/,
    source: 'mlx 0.32; on Linux with mlx 0.32.4: 104, 110, 111',
    meaning: 'The leader did not listen in time, or something between the Macs blocks the connection.',
    action: 'read-other-ranks',
    cure: "Read the log of rank 0; if rank 0 is waiting, check its Mac's firewall.",
    isUnreached: true,
  },
  'no-route': {
    pattern: /Couldn't connect \(error: (?:51|65|101|113)\)/,
    source: 'mlx 0.32; nativelink issue 1694: until a reboot, while ping worked',
    ...withoutRoute,
    isUnreached: true,
  },
  'no-listener': {
    pattern: /\[(?:jaccl|ring)\] (?:Accept failed|Couldn't listen)/,
    source: 'mlx 846d176 (0.32.2)',
    meaning: 'A rank could not accept the connection of another rank.',
    action: 'restart',
    cure: 'Start again, which picks a different port.',
  },
  'no-socket': {
    pattern: /\[(?:jaccl|ring)\] Couldn't (?:create socket|enable reuse)/,
    source: 'libmlx of mlx 0.32.4',
    meaning: 'A rank could not open a network socket; the number in the line is the reason (24: too many open files).',
    action: 'restart',
    cure: prose`Start again; if the error returns, restart that Mac (\`${aside(meshwright('reboot'))}\`).`,
  },
  'no-own-address': {
    pattern: /Couldn't bind socket \(error: (?:49|99)\)/,
    source: 'mlx 0.32; on Linux: 99',
    meaning: 'This Mac no longer has the address that the ranks connect to.',
    action: 'apply',
    cure: 'Start again, which reads the addresses again.',
  },
  'foreign-connection': {
    pattern: /(?:Recv|Send) failed with errno[ =]\d+/,
    meaning:
      'A connection broke during the start: another rank stopped, or another program connected to the coordinator.',
    action: 'read-other-ranks',
    cure: 'Read the logs of the other ranks, and do not probe the ports that ranks use.',
  },
  'work-refused': {
    pattern: /\[jaccl\] (?:Send|Recv) failed with error code -?\d+/,
    source: 'jaccl/rdma.h:194 of mlx 846d176: the value that ibv_post_recv returns; -12 seen with mlx 0.30.6',
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

/** Failures of a TCP ring, and of a group whose files are wrong. */
const ringSignatures = signaturesOf({
  'peer-lost': {
    pattern:
      /\[ring\] (?:connection to a peer was lost|Too many send\/recv errors|Receiving from socket|Sending to socket|Socket \d+ was closed by the peer)/,
    source: 'ring/ring.cpp of mlx 0.32; two real ranks with mlx 0.32.4',
    meaning: 'A rank in the ring lost the connection to its neighbor.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then restart the placement: a lost rank cannot rejoin.`,
  },
  'no-configuration': {
    pattern:
      /\[(?:jaccl|ring)\] (?:You need to provide via environment|The (?:configuration|device file|devices) |Rank \d+ has no sockets|Rank cannot be larger|It is required to have as many)|supports up to 8 peers|do not form a valid (?:mesh|ring)|\[json\.exception\.parse_error\.\d+\]/,
    source: 'mlx 846d176 (0.32.2); without a hostfile, seen with mlx 0.32.4',
    meaning: 'A rank was started without valid files that define its group.',
    action: 'report',
    cure: 'Start again; if the error returns, report it and include the log.',
  },
  'no-backend': {
    pattern: /Cannot initialize \w+ distributed backend|\[distributed\] Couldn't initialize any backend/,
    source: 'mlx 0.32.4 without JACCL, as on Linux; libmlx of mlx 0.32.4',
    meaning: 'This build of mlx cannot connect ranks this way: it was built without it, or macOS lacks the library.',
    action: 'change-file',
    cure: 'Use a build of mlx with JACCL on macOS 26.2 or newer, or declare transport: tcp.',
  },
});

export const mlxSignatures: readonly FailureSignature[] = [...jacclSignatures, ...ringSignatures, ...macosSignatures];
