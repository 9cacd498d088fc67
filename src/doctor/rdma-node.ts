import { lacksThunderbolt5 } from '../cabling/thunderbolt-limit.ts';
import type { ExaminedNode } from './examination.ts';
import { hasRdmaInSettings, isTooOldForRdma } from './macos.ts';

/**
 * How far up the RDMA ladder a node as a whole has come; the first missing rung is the cause.
 * `no-thunderbolt-5` the Mac never can · `macos-too-old` before 26.2 · `disabled` a person must switch it on ·
 * `restart-pending` on, but no device yet · `ready` on, with devices · `unknown` not observed.
 */
export type NodeRdma = 'no-thunderbolt-5' | 'macos-too-old' | 'disabled' | 'restart-pending' | 'ready' | 'unknown';

/** The rung of the ladder on which the node stands, from its own facts alone. */
export function nodeRdma(node: ExaminedNode): NodeRdma {
  const { 'rdma-state': state, 'rdma-devices': devices } = node.facts;
  if (lacksThunderbolt5(node.facts)) return 'no-thunderbolt-5';
  if (isTooOldForRdma(node)) return 'macos-too-old';
  if (!isSwitchedOn(node)) return state.kind === 'unknown' ? 'unknown' : 'disabled';
  if (devices.kind === 'unknown') return 'unknown';
  return devices.value.length === 0 ? 'restart-pending' : 'ready';
}

/** By `rdma_ctl`, or by the switch itself, which from macOS 27 on is also in System Settings. */
function isSwitchedOn(node: ExaminedNode): boolean {
  const { 'rdma-state': state, 'rdma-switch': inSettings } = node.facts;
  const isOn = inSettings.kind === 'known' && inSettings.value === 'on';
  return (state.kind === 'known' && state.value === 'enabled') || (isOn && hasRdmaInSettings(node.facts));
}
