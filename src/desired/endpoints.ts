import type { DesiredNode, DesiredPlacement } from '../model/desired.ts';
import { digestOf } from '../model/digest.ts';

/** Returns a sentence if API keys cross the network unencrypted; undefined if the file rules that out. */
export function clearTextWords({ publication, replica }: DesiredPlacement): string | undefined {
  if (publication?.apiKeys === undefined) return undefined;
  if (publication.proxies !== undefined) {
    return replica && 'Replicas pass requests on over HTTP: keys and prompts cross the network unencrypted.';
  }
  return 'It uses HTTP: keys and prompts cross the network unencrypted.';
}

/** IPv6 addresses need brackets in a URL. */
const hostOf = ({ host }: Pick<DesiredNode, 'host'>): string => (host.includes(':') ? `[${host}]` : host);

/** The address of a placement's endpoint, without a path. An unpublished endpoint is reachable only on its leader. */
export const endpointUrl = (
  placement: Pick<DesiredPlacement, 'publication' | 'endpointPort'>,
  leader: Pick<DesiredNode, 'host'>,
): string => `http://${isPublished(placement) ? hostOf(leader) : '127.0.0.1'}:${placement.endpointPort}`;

export const isPublished = ({ publication }: Pick<DesiredPlacement, 'publication'>): boolean =>
  publication !== undefined && publication.isLocal !== true;

/**
 * The first port for ranks. macOS opens outgoing connections from port 49152 on, and Linux from 32768 on, so any client
 * program could take a higher port.
 *
 * @see `net.inet.ip.portrange.first` of macOS; RFC 6335, section 6
 */
const firstRankPort = 16_384;

/** The number of ports per slot. A port is reused only after this many generations, long after its sockets closed. */
const portsPerSlot = 64;

/** A placement's slot, 0 to 255. It depends only on the name, so it needs no bookkeeping and never changes. */
export const rankSlot = (placement: string): number => Number.parseInt(digestOf(placement).slice(0, 2), 16);

/**
 * The TCP port of a placement's ranks in one generation, 16384 to 32767.
 *
 * @param placement the placement's name
 * @param generation counted from 0
 */
export const rankPort = (placement: string, generation: number): number =>
  firstRankPort + portsPerSlot * rankSlot(placement) + (generation % portsPerSlot);

/**
 * Chooses a port for ranks that belong to no placement. No endpoint uses this port.
 *
 * @param draw returns a different name each time
 * @param taken the endpoints' ports, which are far fewer than the slots
 */
export function freeRankPort(draw: () => string, taken: readonly number[]): number {
  const port = rankPort(draw(), 0);
  return taken.includes(port) ? freeRankPort(draw, taken) : port;
}

/** A placement's first and last port. Each generation uses one port in this range. */
export const rankPorts = (placement: string): { readonly first: number; readonly last: number } => ({
  first: rankPort(placement, 0),
  last: rankPort(placement, portsPerSlot - 1),
});

/** The first port of runtimes behind a gateway. Ports above these runtimes' range are free for endpoints. */
const firstInnerPort = 40_000;

/**
 * The TCP port of a runtime behind its gateway, on the leader's loopback interface: 40000 to 40255.
 *
 * @param placement the placement's name
 */
export const innerPort = (placement: string): number => firstInnerPort + rankSlot(placement);

/** The first and last inner port. This range is reserved: no placement's endpoint may use one of its ports. */
export const innerPorts = { first: firstInnerPort, last: firstInnerPort + 255 } as const;

/** The port on which the runtime answers requests from its own node, with or without a gateway in front of it. */
export const askedPort = ({
  name,
  endpointPort,
  publication,
}: Pick<DesiredPlacement, 'name' | 'endpointPort' | 'publication'>): number =>
  publication === undefined ? endpointPort : innerPort(name);
