import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { mlxSignatures, withoutRoute } from './mlx-library.ts';
import { logPatternOf, signaturesOf } from './table.ts';

/** Errors of exo itself and of macOS. */
const ofExo = signaturesOf({
  'jaccl-segv': {
    pattern: /Terminated \(signal=11 \(Segmentation fault: 11\)\)/,
    source: 'captured: exo issue 2186',
    meaning: 'A runner crashed. Over RDMA the usual reason is a missing RDMA device: Thunderbolt 4, or RDMA is off.',
    action: 'change-file',
    cure: prose`Check that RDMA is enabled on every Mac in the placement (\`${aside(meshwright('doctor'))}\`), or declare transport: tcp.`,
  },
  'nack-loop': {
    pattern: /Requesting Event Log from/,
    source: 'captured: exo issue 1824, about once per second',
    meaning: "This node cannot keep up with the other nodes' events.",
    action: 'restart',
    cure: 'Start the placement again: each start has a new event log.',
  },
  'give-up': {
    pattern: /exceeded 5 retries, requesting deletion/,
    source: 'worker/main.py of exo 1.0.71 to b5375f8',
    meaning: 'exo deleted the placement after five attempts to start its runners.',
    action: 'read-other-ranks',
    cure: prose`Read the runners' earlier log lines (\`${aside(meshwright('logs'))}\`).`,
  },
  'node-removed': {
    pattern: /Manually removing node.*due to inactivity/,
    source: 'master/main.py of exo b5375f8',
    meaning: 'A node sent nothing for 30 seconds.',
    action: 'check-cable',
    cure: prose`Check that Mac and its cables (\`${aside(meshwright('doctor'))}\`).`,
  },
  'ns-removed': {
    pattern: /EXO_LIBP2P_NAMESPACE has been removed/,
    source: 'main.py of exo b5375f8',
    meaning: "exo is newer than the file's `version`: it does not start with this variable.",
    action: 'change-file',
    cure: "Set the runtime key `version` to the version in the archive, or use that release's archive.",
  },
  'peers-removed': {
    pattern: /Bootstrap peers has been temporarily removed/,
    source: 'main.py of exo b5375f8',
    meaning: "exo is newer than the file's `version`: it does not accept peers by name.",
    action: 'change-file',
    cure: "Set the runtime key `version` to the version in the archive, or use that release's archive.",
  },
  'lan-denied': {
    pattern: /No route to host/,
    source: 'captured: exo issues 2191 and 952',
    ...withoutRoute,
  },
});

/** All known failures in exo's log: those of mlx, which exo contains, and its own. */
export const signatures: readonly FailureSignature[] = [...mlxSignatures, ...ofExo];

/** The first signature that matches a line of a message. */
export function signatureIn(message: string): FailureSignature | undefined {
  const lines = message.split('\n');
  return signatures.find(({ pattern }) => lines.some((line) => pattern.test(line)));
}

/** Log lines about failures: the known ones and all others of mlx's own libraries. */
export const logPattern = logPatternOf(signatures, '[[](jaccl|ring|distributed|METAL)[]] ');
