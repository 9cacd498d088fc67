import type { ThunderboltReceptacle } from '../model/fact-values.ts';
import type { Facts } from '../model/observation.ts';

/** Models with Thunderbolt 4 at most, for when every receptacle is in use and so shows no "Up to". @see mlx issue 3777 */
const modelsBeforeThunderbolt5: readonly string[] = ['Mac16,10'];
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

/** Whether it is known that no receptacle of this Mac can do 80 Gb/s, whatever cable is in it. */
export function lacksThunderbolt5({ hardware, thunderbolt }: Pick<Facts, 'hardware' | 'thunderbolt'>): boolean {
  const isListed = hardware.kind === 'known' && modelsBeforeThunderbolt5.includes(hardware.value.model);
  return isListed || (thunderbolt.kind === 'known' && showsThunderbolt4(thunderbolt.value));
}
