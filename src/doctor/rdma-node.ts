import { lacksThunderbolt5 } from '../cabling/thunderbolt-limit.ts';
import type { ExaminedNode } from './examination.ts';
import { isTooOldForRdma } from './macos.ts';

/**
 * How far up the RDMA ladder a node as a whole has come; the first missing rung is the cause.
 * `no-thunderbolt-5` the Mac never can · `macos-too-old` before 26.2 · `disabled` needs Recovery ·
 * `no-device` enabled and yet no device at all · `ready` enabled with devices · `unknown` nobody could tell.
 */
export type NodeRdma = 'no-thunderbolt-5' | 'macos-too-old' | 'disabled' | 'no-device' | 'ready' | 'unknown';

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
