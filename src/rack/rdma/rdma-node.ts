import { lacksThunderbolt5 } from '../cabling/see-receptacles.ts';
import type { ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
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
  const state = read(facts, rdmaStateFact);
  const devices = read(facts, rdmaDevicesFact);
  if (state.kind === 'unknown') return 'unknown';
  if (state.value === 'disabled') return 'disabled';
  if (devices.kind === 'unknown') return 'unknown';
  return devices.value.length === 0 ? 'no-device' : 'ready';
}

/** From macOS 27 on the switch decides what comes after the next restart; until then the devices count. */
function bySwitch({ facts }: ExaminedNode): NodeRdma {
  const state = read(facts, rdmaStateFact);
  const turned = read(facts, rdmaSwitchFact);
  const devices = read(facts, rdmaDevicesFact);
  const isEnabled = state.kind === 'known' && state.value === 'enabled';
  const isDisabled = state.kind === 'known' && state.value === 'disabled';
  const hasDevices = devices.kind === 'known' && devices.value.length > 0;
  if (turned.kind === 'unknown') return isEnabled && hasDevices ? 'ready' : 'unknown';
  if (hasDevices) return 'ready';
  if (turned.value === 'off') return devices.kind === 'known' || isDisabled ? 'disabled' : 'unknown';
  return devices.kind === 'known' ? 'restart-pending' : 'unknown';
}

/** Whether RDMA works now on a Mac with macOS 27 and is switched off: its next restart ends it. */
export function endsAtRestart(node: ExaminedNode): boolean {
  const turned = read(node.facts, rdmaSwitchFact);
  return (
    hasRdmaInSettings(node.facts) && nodeRdma(node) === 'ready' && turned.kind === 'known' && turned.value === 'off'
  );
}
