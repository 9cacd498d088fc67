import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { gpuSignatures, jacclSignatures } from '../contract/signatures.ts';

/** Of RDMA, as the libraries below exo say it. Captured by users in the threads named. */
const ofRdma: readonly FailureSignature[] = [
  {
    // exo issues 1390 and 1847, mlx issue 3467.
    id: 'jaccl-rtr-22',
    pattern: /Changing queue pair to RTR failed with errno 22\b/,
    meaning: 'An RDMA port has no IPv4-mapped GID: its interface has no IPv4 address, or a bridge owns it.',
    action: 'apply',
    cure: prose`Let apply put the addresses of the cables back; if it comes back, restart all members (\`${aside(meshwright('reboot'))}\`).`,
  },
  {
    // exo issue 1973.
    id: 'jaccl-rtr-96',
    pattern: /Changing queue pair to RTR failed with errno 96\b/,
    meaning: 'The RDMA ports are stale: links that worked for hours fail at every load.',
    action: 'reboot',
    cure: prose`Restart all members (\`${aside(meshwright('reboot'))}\`); a new start of exo alone did not help.`,
  },
  {
    // exo issue 1847.
    id: 'jaccl-recv-60',
    pattern: /\[jaccl\] Recv failed with errno=60\b/,
    meaning: 'A rank did not answer over RDMA in time.',
    action: 'restart',
    cure: prose`Start the placement again; when it comes back, restart all members (\`${aside(meshwright('reboot'))}\`).`,
  },
  {
    // exo issue 1847.
    id: 'jaccl-recv-2',
    pattern: /\[jaccl\] Recv failed with errno=2\b/,
    meaning: 'Another rank went away in the middle of its work; the number itself is a leftover.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  {
    // mlx pull request 4209, measured on macOS 26.5.1: a device gives ten. Since then mlx names the error as well.
    id: 'jaccl-qp-16',
    pattern: /Creating the queue pair failed with (?:errno 16\b|'[^']*\(16\)')/,
    meaning: 'An RDMA device has no queue pair left: others hold them.',
    action: 'reboot',
    cure: 'Stop what else uses RDMA on this Mac, or restart it; every further try takes more of them.',
  },
  {
    // mlx pull request 4191.
    id: 'jaccl-no-gid',
    pattern: /No IPv4-mapped GID for this device/,
    meaning: 'The interface of a cable has no IPv4 address.',
    action: 'apply',
    cure: 'Let apply put the addresses of the cables back.',
  },
  {
    // exo issue 2186.
    id: 'jaccl-segv',
    pattern: /Terminated \(signal=11 \(Segmentation fault: 11\)\)/,
    meaning: 'Over RDMA: the device is not there, as on a Mac with Thunderbolt 4 or with RDMA switched off.',
    action: 'change-file',
    cure: prose`See that RDMA is on at every member (\`${aside(meshwright('doctor'))}\`), or declare transport: tcp.`,
  },
];

/** Of exo itself, of its ring of sockets, and of macOS. */
const ofExo: readonly FailureSignature[] = [
  {
    id: 'metal-gpu-timeout',
    pattern: /\[METAL\].*GPU Timeout/,
    meaning: 'The GPU did not come back from a command.',
    action: 'restart',
    cure: prose`Start the placement again; when the GPU stays at 100 percent, restart that Mac (\`${aside(meshwright('reboot'))}\`).`,
  },
  {
    id: 'ring-recv',
    pattern: /\[ring\] Receiving from socket/,
    meaning: 'A rank of the ring lost its neighbour.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  {
    id: 'ring-abort',
    // It ends in "Aborting", since mlx 0.32.1 in "Failing pending tasks" (mlx/distributed/ring/ring.cpp).
    pattern: /\[ring\] Too many send\/recv errors\./,
    meaning: 'A rank of the ring lost its neighbour for good.',
    action: 'read-other-ranks',
    cure: prose`Read the log of the rank that failed first (\`${aside(meshwright('logs'))}\`), then start the placement again.`,
  },
  {
    // Captured: exo issues 1972, 1348 and 1872.
    id: 'iogpu-panic',
    pattern: /completeMemory\(\) prepare count underflow/,
    meaning: 'macOS itself panicked under wired memory; the Mac restarts by itself.',
    action: 'wait',
    cure: 'Wait for the Mac, then start the placement again with more memory left: less context, or more nodes.',
  },
  {
    // Captured: exo issue 1824. Said about once per second.
    id: 'nack-loop',
    pattern: /Requesting Event Log from/,
    meaning: 'This node cannot catch up with the events of the others.',
    action: 'restart',
    cure: 'Start the placement again: each start has an event log of its own.',
  },
  {
    id: 'give-up',
    pattern: /exceeded 5 retries, requesting deletion/,
    meaning: 'exo took the placement away by itself after five tries to start its runners.',
    action: 'read-other-ranks',
    cure: prose`Read what the runners said before that (\`${aside(meshwright('logs'))}\`).`,
  },
  {
    id: 'node-removed',
    pattern: /Manually removing node.*due to inactivity/,
    meaning: 'Nothing came from a node for 30 seconds.',
    action: 'check-cable',
    cure: prose`See whether that Mac and its cables are there (\`${aside(meshwright('doctor'))}\`).`,
  },
  {
    id: 'ns-removed',
    pattern: /EXO_LIBP2P_NAMESPACE has been removed/,
    meaning: 'The program is newer than the version that the file gives it: it does not start with that variable.',
    action: 'change-file',
    cure: 'Give the runtime the version that it has, or take the archive of the release.',
  },
  {
    id: 'peers-removed',
    pattern: /Bootstrap peers has been temporarily removed/,
    meaning: 'The program is newer than the version that the file gives it: it takes no peers by name.',
    action: 'change-file',
    cure: 'Give the runtime the version that it has, or take the archive of the release.',
  },
  {
    // Captured: exo issues 2191 and 952.
    id: 'lan-denied',
    pattern: /No route to host/,
    meaning: 'macOS did not let exo reach its neighbours, or the network was not up yet; exo then stays alone.',
    action: 'restart',
    cure: prose`Start the placement again; if it comes back, see that the cables have their addresses (\`${aside(meshwright('doctor'))}\`).`,
  },
];

/** Of the table of mlx, what stands above in words of exo. */
const toldOtherwise = new Set(['no-ipv4-gid', 'rtr-errno-22', 'recv-errno-2', 'gpu-timeout']);

const ofUsers = [...ofRdma, ...ofExo];

/** What exo's users have not shown yet: mlx says it, which exo is built with. */
const ofMlx = [...jacclSignatures, ...gpuSignatures].filter(({ id }) => !toldOtherwise.has(id));

/** Every failure of exo that is known by its words. */
export const signatures: readonly FailureSignature[] = [...ofUsers, ...ofMlx];

/** The first signature that a message has in one of its lines. */
export function signatureIn(message: string): FailureSignature | undefined {
  const lines = message.split('\n');
  return signatures.find(({ pattern }) => lines.some((line) => pattern.test(line)));
}

/**
 * Lines that an observation brings along. An extended regular expression for awk.
 *
 * @see signatures, each of which is met by it
 */
export const logPattern =
  '[[]jaccl[]]|queue pair|completion queue|rotection domain|create_qp|(Recv|Send) failed with err|Couldn.t (connect|bind) |Could not (find|open) device|Register memory region|IPv4-mapped GID|Terminated [(]signal=|[[]METAL[]]|OutOfMemory|metal::malloc|[[]ring[]]|prepare count underflow|Requesting Event Log|exceeded 5 retries|Manually removing node|EXO_LIBP2P_NAMESPACE|Bootstrap peers|No route to host|Address already in use';
