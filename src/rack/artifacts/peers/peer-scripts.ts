import { chunkBytes, mostChunkBytes, totalBytes } from '../../../model/model-bytes.ts';
import type { JobArgs, PeerPlan, TreeFile, TreeId } from '../../../model/node-script.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { peersFolder, treeFolder } from '../../../node/paths/own-paths.ts';
import { sh } from './scripts.generated.ts';

/** Where a program listens that other Macs reach through the sshd of its own Mac. */
export const loopback = '127.0.0.1';

export const servesOverSsh = ({ listen }: PeerPlan): boolean => listen.includes(loopback);

/**
 * Connections per cable. Each has its own process at both ends, and perl computes SHA-256 at about 0.5 GB/s, a fifth of
 * what a cable carries.
 */
const streamsFor = (bytes: number): number => (chunkBytes(bytes) < mostChunkBytes ? 1 : 4);

/** The plan of an exchange as `peer.pl` reads it. */
export function exchangeText(plan: PeerPlan, files: readonly TreeFile[]): string {
  const bytes = totalBytes(files);
  const lines = [
    `name ${plan.self}`,
    `role ${plan.role}`,
    `mode ${plan.mode}`,
    `stripe ${plan.stripe.at} ${plan.stripe.of}`,
    `chunk ${chunkBytes(bytes)}`,
    `streams ${streamsFor(bytes)}`,
    ...plan.listen.map((address) => `listen ${address} ${plan.port}`),
    ...plan.sources.map(
      ({ node, address = '-', isOrigin, isOverSsh }) =>
        `peer ${node} ${address} ${plan.port} ${isOrigin ? 'origin' : 'relay'}${isOverSsh ? ' ssh' : ''}`,
    ),
    ...plan.feeds.map((node) => `feeds ${node}`),
    ...files.map(({ sizeBytes, path }) => `file ${sizeBytes} ${path}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The shell variables of `peers.sh`; without a plan, the job exchanges nothing. */
export const peerValues = (tree: TreeId, files: readonly TreeFile[], plan: PeerPlan | undefined) => ({
  peers: peersFolder(tree),
  published: treeFolder(tree),
  plan: plan === undefined ? '' : exchangeText(plan, files),
  peer_account: plan?.account ?? '',
  receives: plan?.role === 'receive',
});

export const serveModel = ({ tree, files, peers }: JobArgs['serve-model']): string => {
  const { receives: _, ...values } = peerValues(tree, files, peers);
  return sh.serveModel({ ...refusalValues, ...values });
};
