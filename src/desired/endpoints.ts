import type { DesiredPlacement } from '../model/desired.ts';
import { digestOf } from '../model/digest.ts';

/** A sentence if API keys cross the network unencrypted; undefined if the file rules that out. */
export function clearTextWords({ publication }: DesiredPlacement): string | undefined {
  if (publication?.apiKeys === undefined || publication.proxies !== undefined) return undefined;
  return 'It uses HTTP: keys and prompts cross the network unencrypted.';
}
/**
 * The first port for ranks. Ports for outgoing connections start at 49152 on macOS and at 32768 on Linux, so a higher
 * port could be taken by any client program.
 *
 * @see `net.inet.ip.portrange.first` of macOS; RFC 6335, section 6
 */
const firstRankPort = 16_384;

/** Ports of one slot. A port is reused only after this many generations, long after its sockets are gone. */
const portsPerSlot = 64;

/** The slot of a placement, 0 to 255. It depends only on the name, so it needs no bookkeeping and never changes. */
export const rankSlot = (placement: string): number => Number.parseInt(digestOf(placement).slice(0, 2), 16);

/**
 * The TCP port of the ranks in one generation of a placement, 16384 to 32767.
 *
 * @param placement the name of the placement
 * @param generation from 0
 */
export const rankPort = (placement: string, generation: number): number =>
  firstRankPort + portsPerSlot * rankSlot(placement) + (generation % portsPerSlot);

/**
 * A port for ranks that belong to no placement. No endpoint uses it.
 *
 * @param draw returns a different name each time
 * @param taken ports of endpoints; there are far fewer of these than slots
 */
export function freeRankPort(draw: () => string, taken: readonly number[]): number {
  const port = rankPort(draw(), 0);
  return taken.includes(port) ? freeRankPort(draw, taken) : port;
}

/** The first and the last port of a placement. Each generation uses one of them. */
export const rankPorts = (placement: string): { readonly first: number; readonly last: number } => ({
  first: rankPort(placement, 0),
  last: rankPort(placement, portsPerSlot - 1),
});

/** The first port of runtimes behind a gateway. Ports above their range are free for endpoints. */
const firstInnerPort = 40_000;

/**
 * The TCP port of a runtime behind its gateway, on the leader's loopback interface: 40000 to 40255.
 *
 * @param placement the name of the placement
 */
export const innerPort = (placement: string): number => firstInnerPort + rankSlot(placement);

/** The first and the last of these ports. They are reserved: no endpoint of any placement may use one. */
export const innerPorts = { first: firstInnerPort, last: firstInnerPort + 255 } as const;

/** The port on which the runtime answers its own node, with or without a gateway in front of it. */
export const askedPort = ({
  name,
  endpointPort,
  publication,
}: Pick<DesiredPlacement, 'name' | 'endpointPort' | 'publication'>): number =>
  publication === undefined ? endpointPort : innerPort(name);
