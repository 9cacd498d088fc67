import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { gpuSignatures, jacclSignatures, signaturesOf } from '../contract/signatures.ts';

/** RDMA errors from the libraries below exo, captured by users in the cited threads. */
const ofRdma = signaturesOf({
  'jaccl-rtr-22': {
    // exo issues 1390 and 1847, mlx issue 3467.
    pattern: /Changing queue pair to RTR failed with errno 22\b/,
    meaning:
      'An RDMA port has no IPv4-mapped GID, because its interface has no IPv4 address or is in a bridge, or has it at an index other than 1.',
    action: 'apply',
    cure: prose`If \`${aside(meshwright('doctor'))}\` names a GID index, use transport: tcp or a llamacpp-rpc runtime. Otherwise, let apply restore the cable addresses; if the error returns, restart all of the placement's Macs (\`${aside(meshwright('reboot'))}\`).`,
  },
  'jaccl-rtr-96': {
    // exo issue 1973.
    pattern: /Changing queue pair to RTR failed with errno 96\b/,
    meaning: 'The RDMA ports have stale state: links that worked for hours fail at every model load.',
    action: 'reboot',
    cure: prose`Restart all of the placement's Macs (\`${aside(meshwright('reboot'))}\`); restarting only exo did not help other users.`,
  },
  'jaccl-recv-60': {
    // exo issue 1847.
    pattern: /\[jaccl\] Recv failed with errno=60\b/,
    meaning: 'A rank did not answer over RDMA in time.',
    action: 'restart',
    cure: prose`Start the placement again; if the error returns, restart all its Macs (\`${aside(meshwright('reboot'))}\`).`,
  },
  'jaccl-recv-2': {
    // exo issue 1847.
    pattern: /\[jaccl\] Recv failed with errno=2\b/,
    meaning: 'Another rank stopped during its work; the error number itself means nothing.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  'jaccl-qp-16': {
    // mlx pull request 4209, measured on macOS 26.5.1: a device has ten. Newer versions of mlx also print the error's
    // name.
    pattern: /Creating the queue pair failed with (?:errno 16\b|'[^']*\(16\)')/,
    meaning: 'An RDMA device has no queue pair left: other programs or failed starts hold them.',
    action: 'reboot',
    cure: 'Stop other programs that use RDMA on this Mac, or restart it; each further attempt uses up more queue pairs.',
  },
  'jaccl-no-gid': {
    // mlx pull request 4191.
    pattern: /No IPv4-mapped GID for this device/,
    meaning: 'A cable interface has no IPv4 address.',
    action: 'apply',
    cure: 'Let apply restore the cable addresses.',
  },
  'jaccl-segv': {
    // exo issue 2186.
    pattern: /Terminated \(signal=11 \(Segmentation fault: 11\)\)/,
    meaning: 'A runner crashed. Over RDMA the usual reason is a missing RDMA device: Thunderbolt 4, or RDMA is off.',
    action: 'change-file',
    cure: prose`Check that RDMA is enabled on every Mac in the placement (\`${aside(meshwright('doctor'))}\`), or declare transport: tcp.`,
  },
});

/** Errors of exo itself, its TCP ring, and macOS. */
const ofExo = signaturesOf({
  'metal-gpu-timeout': {
    pattern: /\[METAL\].*GPU Timeout/,
    meaning: 'A GPU command did not finish.',
    action: 'restart',
    cure: prose`Start the placement again; if the GPU stays at 100 %, restart that Mac (\`${aside(meshwright('reboot'))}\`).`,
  },
  'ring-recv': {
    pattern: /\[ring\] Receiving from socket/,
    meaning: 'A rank in the ring lost the connection to its neighbor.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  'ring-abort': {
    // The line ends in "Aborting", and since mlx 0.32.1 in "Failing pending tasks" (mlx/distributed/ring/ring.cpp).
    pattern: /\[ring\] Too many send\/recv errors\./,
    meaning: 'A rank in the ring lost its neighbor and gave up.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  'nack-loop': {
    // Captured: exo issue 1824. Logged about once per second.
    pattern: /Requesting Event Log from/,
    meaning: "This node cannot keep up with the other nodes' events.",
    action: 'restart',
    cure: 'Start the placement again: each start has a new event log.',
  },
  'give-up': {
    pattern: /exceeded 5 retries, requesting deletion/,
    meaning: 'exo deleted the placement after five attempts to start its runners.',
    action: 'read-other-ranks',
    cure: prose`Read the runners' earlier log lines (\`${aside(meshwright('logs'))}\`).`,
  },
  'node-removed': {
    pattern: /Manually removing node.*due to inactivity/,
    meaning: 'A node sent nothing for 30 seconds.',
    action: 'check-cable',
    cure: prose`Check that Mac and its cables (\`${aside(meshwright('doctor'))}\`).`,
  },
  'ns-removed': {
    pattern: /EXO_LIBP2P_NAMESPACE has been removed/,
    meaning: "exo is newer than the file's `version`: it does not start with this variable.",
    action: 'change-file',
    cure: "Set the runtime key `version` to the version in the archive, or use that release's archive.",
  },
  'peers-removed': {
    pattern: /Bootstrap peers has been temporarily removed/,
    meaning: "exo is newer than the file's `version`: it does not accept peers by name.",
    action: 'change-file',
    cure: "Set the runtime key `version` to the version in the archive, or use that release's archive.",
  },
  'lan-denied': {
    // Captured: exo issues 2191 and 952.
    pattern: /No route to host/,
    meaning:
      "macOS blocked exo's connections to its neighbors, or the network was not up yet; exo then finds no peers.",
    action: 'restart',
    cure: prose`Start the placement again; if the error returns, check the cable addresses (\`${aside(meshwright('doctor'))}\`).`,
  },
});

/** Entries of mlx's table that the tables above replace. */
const toldOtherwise = new Set(['no-ipv4-gid', 'rtr-errno-22', 'recv-errno-2', 'gpu-timeout']);

/** All known failures in exo's log. The last ones are mlx's, which exo contains; no exo user has captured them yet. */
export const signatures: readonly FailureSignature[] = [
  ...ofRdma,
  ...ofExo,
  ...[...jacclSignatures, ...gpuSignatures].filter(({ id }) => !toldOtherwise.has(id)),
];

/** The first signature that matches a line of a message. */
export function signatureIn(message: string): FailureSignature | undefined {
  const lines = message.split('\n');
  return signatures.find(({ pattern }) => lines.some((line) => pattern.test(line)));
}

/**
 * Log lines that an observation includes, as an extended regular expression for awk.
 *
 * @see signatures: the pattern matches each of them
 */
export const logPattern =
  '[[]jaccl[]]|queue pair|completion queue|rotection domain|create_qp|(Recv|Send) failed with err|Couldn.t (connect|bind) |Could not (find|open) device|Register memory region|IPv4-mapped GID|Terminated [(]signal=|[[]METAL[]]|OutOfMemory|metal::malloc|[[]ring[]]|prepare count underflow|Requesting Event Log|exceeded 5 retries|Manually removing node|EXO_LIBP2P_NAMESPACE|Bootstrap peers|No route to host|Address already in use';
