import { lacksThunderbolt5 } from '../cabling/judge-cabling.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hasRdmaInSettings, isTooOldForRdma } from '../macos/macos.ts';
import { rdmaDevicesFact } from './devices-fact.ts';
import { rdmaStateFact, rdmaSwitchFact } from './state-fact.ts';

/**
 * How far up the RDMA ladder a node as a whole has come; the first missing rung is the cause.
 * `no-thunderbolt-5` the Mac never can · `macos-too-old` before 26.2 · `disabled` a person must switch it on ·
 * `restart-pending` switched on since the last start · `no-device` enabled, without a device · `ready` on, with devices ·
 * `unknown` not observed.
 */
export type NodeRdma =
  | 'no-thunderbolt-5'
  | 'macos-too-old'
  | 'disabled'
  | 'restart-pending'
  | 'no-device'
  | 'ready'
  | 'unknown';

/** The rung of the ladder on which the node stands, from its own facts alone. */
export function nodeRdma(node: ExaminedNode): NodeRdma {
  if (lacksThunderbolt5(node.facts)) return 'no-thunderbolt-5';
  if (isTooOldForRdma(node)) return 'macos-too-old';
  return hasRdmaInSettings(node.facts) ? bySwitch(node) : byRecovery(node);
}

/** Before macOS 27 only Recovery switches RDMA on, and a Mac always restarts when it leaves Recovery. */
function byRecovery({ facts }: ExaminedNode): NodeRdma {
  const state = readValue(facts, rdmaStateFact);
  const devices = readValue(facts, rdmaDevicesFact);
  if (state === 'disabled') return 'disabled';
  if (state === undefined || devices === undefined) return 'unknown';
  return devices.length === 0 ? 'no-device' : 'ready';
}

/** From macOS 27 on the switch decides what comes after the next restart; until then the devices count. */
function bySwitch({ facts }: ExaminedNode): NodeRdma {
  const state = readValue(facts, rdmaStateFact);
  const turned = readValue(facts, rdmaSwitchFact);
  const devices = readValue(facts, rdmaDevicesFact);
  const hasDevices = devices !== undefined && devices.length > 0;
  if (turned === undefined) return state === 'enabled' && hasDevices ? 'ready' : 'unknown';
  if (hasDevices) return 'ready';
  if (turned === 'off') return devices !== undefined || state === 'disabled' ? 'disabled' : 'unknown';
  return devices === undefined ? 'unknown' : 'restart-pending';
}
