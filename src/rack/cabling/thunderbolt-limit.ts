import type { Facts, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import { neverHasRdma } from '../../model/macs.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { read } from '../fact.ts';
import { hardwareFact } from '../identity/hardware-fact.ts';

const thunderbolt4BitsPerSecond = 40e9;

/** A free receptacle says what it could do ("Up to 120 Gb/s"); a connected one only what the cable does. */
function showsThunderbolt4(receptacles: readonly ThunderboltReceptacle[]): boolean {
  const maxima = receptacles.flatMap(({ maxBitsPerSecond }) =>
    maxBitsPerSecond === undefined ? [] : [maxBitsPerSecond],
  );
  const speeds = receptacles.flatMap(({ linkBitsPerSecond }) =>
    linkBitsPerSecond === undefined ? [] : [linkBitsPerSecond],
  );
  return maxima.length > 0 && [...maxima, ...speeds].every((speed) => speed <= thunderbolt4BitsPerSecond);
}

/**
 * Whether it is known that no receptacle of this Mac can do 80 Gb/s, whatever cable is in it: from the table of Macs, or
 * from what free receptacles can do at most. A Mac whose receptacles are all in use shows no maximum.
 */
export function lacksThunderbolt5(facts: Facts): boolean {
  const hardware = read(facts, hardwareFact);
  const thunderbolt = read(facts, thunderboltFact);
  const isListed = hardware.kind === 'known' && neverHasRdma(hardware.value.model);
  return isListed || (thunderbolt.kind === 'known' && showsThunderbolt4(thunderbolt.value));
}
