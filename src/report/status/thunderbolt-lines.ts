import type { ThunderboltPeer, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import type { RdmaPort } from '../../model/facts/rdma.ts';
import { speedText } from '../../model/text/units.ts';

/** The first group of a domain UUID tells buses apart; the whole of it is in the JSON form. */
const busText = (domainUuid = 'unknown'): string => `bus ${domainUuid.split('-')[0] ?? ''}`;

function peerText({ model, domainUuid, advertisesRdma, hubsBetween }: ThunderboltPeer): string {
  const hubs = hubsBetween === 0 ? '' : ` behind ${hubsBetween} ${hubsBetween === 1 ? 'hub' : 'hubs'}`;
  const rdma = advertisesRdma === 'unknown' ? ', RDMA unknown' : advertisesRdma ? ', RDMA' : '';
  return `${model} on ${busText(domainUuid)}${hubs}${rdma}`;
}

function contentText({ state, linkBitsPerSecond, maxBitsPerSecond, peers, devices }: ThunderboltReceptacle): string {
  if (state === 'unknown') return 'unknown, macOS did not describe it';
  if (state === 'empty') {
    return maxBitsPerSecond === undefined ? 'empty' : `empty, up to ${speedText(maxBitsPerSecond)}`;
  }
  const speed = linkBitsPerSecond === undefined ? 'connected' : speedText(linkBitsPerSecond);
  const names = devices.map(({ vendor, name }) => [vendor, name].filter(Boolean).join(' '));
  const quiet = state === 'silent' ? ['nothing answers'] : [];
  return [speed, ...quiet, ...names, ...peers.map(peerText)].join(', ');
}

/** One line per receptacle: its number, its bus, what is on it. */
export const receptacleLines = (receptacles: readonly ThunderboltReceptacle[]): readonly string[] =>
  receptacles
    .toSorted((a, b) => a.receptacle - b.receptacle)
    .map((one) => `${one.receptacle}  ${busText(one.domainUuid)}  ${contentText(one)}`);

/** One line per RDMA port: its state, the IPv4 addresses among its GIDs, its limits (queue pairs, protection domains). */
export const rdmaPortLines = (ports: readonly RdmaPort[]): readonly string[] =>
  ports.map(({ device, state, gids, maxQueuePairs, maxProtectionDomains }) => {
    const mapped = gids.flatMap(({ index, ipv4 }) => (ipv4 === undefined ? [] : [`GID ${index} is ${ipv4}`]));
    const limits = [
      ...(maxQueuePairs === undefined ? [] : [`QP ${maxQueuePairs}`]),
      ...(maxProtectionDomains === undefined ? [] : [`PD ${maxProtectionDomains}`]),
    ];
    return [`${device} ${state}`, ...(mapped.length === 0 ? ['no IPv4 GID'] : mapped), ...limits].join(', ');
  });
