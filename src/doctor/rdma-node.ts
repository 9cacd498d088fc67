import type { ThunderboltReceptacle } from '../model/fact-values.ts';
import type { Facts } from '../model/observation.ts';
import type { ExaminedNode } from './examination.ts';
import { isTooOldForRdma } from './macos.ts';

/**
 * How far up the RDMA ladder a node as a whole has come; the first missing rung is the cause.
 * `no-thunderbolt-5` the Mac never can · `macos-too-old` before 26.2 · `disabled` needs Recovery ·
 * `no-device` enabled and yet no device at all · `ready` enabled with devices · `unknown` nobody could tell.
 */
export type NodeRdma = 'no-thunderbolt-5' | 'macos-too-old' | 'disabled' | 'no-device' | 'ready' | 'unknown';

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

function lacksThunderbolt5({ hardware, thunderbolt }: Facts): boolean {
  const isListed = hardware.kind === 'known' && modelsBeforeThunderbolt5.includes(hardware.value.model);
  return isListed || (thunderbolt.kind === 'known' && showsThunderbolt4(thunderbolt.value));
}

/** The rung of the ladder on which the node stands, from its own facts alone. */
export function nodeRdma(node: ExaminedNode): NodeRdma {
  const { facts } = node;
  const state = facts['rdma-state'];
  const devices = facts['rdma-devices'];
  if (lacksThunderbolt5(facts)) {
    return 'no-thunderbolt-5';
  }
  if (isTooOldForRdma(node)) {
    return 'macos-too-old';
  }
  if (state.kind === 'unknown') {
    return 'unknown';
  }
  if (state.value === 'disabled') {
    return 'disabled';
  }
  if (devices.kind === 'unknown') {
    return 'unknown';
  }
  return devices.value.length === 0 ? 'no-device' : 'ready';
}
