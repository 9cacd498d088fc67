import { digestOf } from '../model/digest.ts';

/** First of the ports on which ranks meet; the ports of endpoints lie below. */
const firstRankPort = 49_152;

/** Ports of one slot: so many generations pass before one comes again, long after its sockets are gone. */
export const portsPerSlot = 64;

/** Which 64 ports a placement has, 0 to 255, by its name alone: it needs no bookkeeping and never moves. */
export const rankSlot = (placement: string): number => Number.parseInt(digestOf(placement).slice(0, 2), 16);

/**
 * TCP port on which the ranks of one generation of a placement meet, 49152 to 65535.
 *
 * @param placement its name
 * @param generation from 0
 */
export const rankPort = (placement: string, generation: number): number =>
  firstRankPort + portsPerSlot * rankSlot(placement) + (generation % portsPerSlot);
