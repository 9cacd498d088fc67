import type { DesiredPlacement } from '../model/desired.ts';
import { digestOf } from '../model/digest.ts';

/** That keys of clients cross the network without encryption, as a sentence; undefined where the file rules it out. */
export function clearTextWords({ publication }: DesiredPlacement): string | undefined {
  if (publication?.apiKeys === undefined || publication.proxies !== undefined) return undefined;
  return 'It speaks http: keys and prompts cross the network in clear text.';
}
/**
 * First of the ports on which ranks meet. From 49152 on macOS gives ports to outgoing connections, Linux from 32768: a
 * rank could find its port taken by somebody's web page.
 *
 * @see `net.inet.ip.portrange.first` of macOS; RFC 6335, section 6
 */
const firstRankPort = 16_384;

/** Ports of one slot: so many generations pass before one comes again, long after its sockets are gone. */
const portsPerSlot = 64;

/** Which 64 ports a placement has, 0 to 255, by its name alone: it needs no bookkeeping and never moves. */
export const rankSlot = (placement: string): number => Number.parseInt(digestOf(placement).slice(0, 2), 16);

/**
 * TCP port on which the ranks of one generation of a placement meet, 16384 to 32767.
 *
 * @param placement its name
 * @param generation from 0
 */
export const rankPort = (placement: string, generation: number): number =>
  firstRankPort + portsPerSlot * rankSlot(placement) + (generation % portsPerSlot);

/**
 * A port for ranks that belong to no placement, on which no endpoint answers.
 *
 * @param draw gives a name, another one each time
 * @param taken ports of endpoints; far fewer than there are slots
 */
export function freeRankPort(draw: () => string, taken: readonly number[]): number {
  const port = rankPort(draw(), 0);
  return taken.includes(port) ? freeRankPort(draw, taken) : port;
}

/** First and last of the ports of a placement, one of which each generation has. */
export const rankPorts = (placement: string): { readonly first: number; readonly last: number } => ({
  first: rankPort(placement, 0),
  last: rankPort(placement, portsPerSlot - 1),
});

/** First of the ports of runtimes behind a doorman; those that a file may name for endpoints go on above. */
const firstInnerPort = 40_000;

/**
 * TCP port on which a runtime answers behind its doorman, on loopback of the leader: 40000 to 40255.
 *
 * @param placement its name
 */
export const innerPort = (placement: string): number => firstInnerPort + rankSlot(placement);

/** First and last of these ports. No endpoint may have one: of whichever placement it is, now or tomorrow. */
export const innerPorts = { first: firstInnerPort, last: firstInnerPort + 255 } as const;

/** The port on which the runtime of a placement answers its own node, whoever stands before it. */
export const askedPort = ({
  name,
  endpointPort,
  publication,
}: Pick<DesiredPlacement, 'name' | 'endpointPort' | 'publication'>): number =>
  publication === undefined ? endpointPort : innerPort(name);
