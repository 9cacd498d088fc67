import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { meshwright } from '../model/command.ts';
import { prose } from '../model/prose.ts';
import type { Fault } from './fault.ts';
import {
  clockSkew,
  connectionDrop,
  filevaultLocked,
  macReplaced,
  notEnrolled,
  remoteLoginOff,
  sudoDenied,
  wrongHostKey,
  wrongMac,
} from './fault-access.ts';
import {
  bridgeRebuilt,
  diskFull,
  idleDeadPort,
  noFullDiskAccess,
  noReturn,
  pdLeak,
  rdmaHang,
  rdmaHeld,
  slowShutdown,
  verbsHang,
  wiredLeak,
} from './fault-ailments.ts';
import { cable40g, cableMissing, cableSwapped, gidMissing } from './fault-cables.ts';
import { daemonConflict, dhcpReset, internetSharing, ipv4Off } from './fault-network.ts';
import { crash, powerCut, tcpLoadPanic } from './fault-power.ts';
import { bridgeActive, macosNew, macosOld, powerWrong, rdmaDisabled, rdmaWaiting } from './fault-settings.ts';
import { cableDoubled, cableExtra, cableForeign, hubBetween, hubHidesPeer } from './fault-strange-cables.ts';
import type { SimulatedFleet } from './fleet.ts';
import { nearestWord } from './nearest-word.ts';

/** Every fault by its name. */
export const faults = {
  'bridge-active': bridgeActive,
  'bridge-rebuilt': bridgeRebuilt,
  'cable-40g': cable40g,
  'cable-doubled': cableDoubled,
  'cable-extra': cableExtra,
  'cable-foreign': cableForeign,
  'cable-missing': cableMissing,
  'cable-swapped': cableSwapped,
  'clock-skew': clockSkew,
  'connection-drop': connectionDrop,
  crash,
  'daemon-conflict': daemonConflict,
  'dhcp-reset': dhcpReset,
  'disk-full': diskFull,
  'filevault-locked': filevaultLocked,
  'gid-missing': gidMissing,
  'hub-between': hubBetween,
  'hub-hides-peer': hubHidesPeer,
  'idle-dead-port': idleDeadPort,
  'internet-sharing': internetSharing,
  'ipv4-off': ipv4Off,
  'mac-replaced': macReplaced,
  'macos-new': macosNew,
  'macos-old': macosOld,
  'no-full-disk-access': noFullDiskAccess,
  'no-return': noReturn,
  'not-enrolled': notEnrolled,
  'pd-leak': pdLeak,
  'power-cut': powerCut,
  'power-wrong': powerWrong,
  'rdma-disabled': rdmaDisabled,
  'rdma-hang': rdmaHang,
  'rdma-held': rdmaHeld,
  'rdma-waiting': rdmaWaiting,
  'remote-login-off': remoteLoginOff,
  'slow-shutdown': slowShutdown,
  'sudo-denied': sudoDenied,
  'tcp-load-panic': tcpLoadPanic,
  'verbs-hang': verbsHang,
  'wired-leak': wiredLeak,
  'wrong-host-key': wrongHostKey,
  'wrong-mac': wrongMac,
} as const satisfies Readonly<Record<string, Fault>>;

/** The name of a fault. */
export type FaultName = keyof typeof faults;

/** All names, sorted. */
export const faultNames: readonly FaultName[] = Object.keys(faults).filter(isFaultName).sort();

/** Whether there is a fault of this name. */
function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faults, name);
}

/** A fault that is in force. `target` may be any form that the fault takes. */
export interface ActiveFault {
  readonly fault: FaultName;
  readonly target: string;
}

/** The broken fleet and its faults with canonical targets, or the first fault that could not be applied. */
export type FaultsResult =
  | { readonly kind: 'fleet'; readonly fleet: SimulatedFleet; readonly active: readonly ActiveFault[] }
  | { readonly kind: 'refused'; readonly diagnostics: readonly [Diagnostic] };

/**
 * The healthy fleet with these faults, one after the other. The broken state is always made anew from the healthy one,
 * so taking a fault out of the list undoes exactly that fault. The same fault twice on one target counts once.
 */
export function applyFaults(healthy: SimulatedFleet, active: readonly ActiveFault[]): FaultsResult {
  let fleet = healthy;
  const canonical: ActiveFault[] = [];
  for (const { fault, target } of active) {
    const result = faults[fault].apply(fleet, target);
    const text = result.kind === 'refused' ? target : result.target;
    if (canonical.some((one) => one.fault === fault && one.target === text)) continue;
    if (result.kind === 'refused') return { kind: 'refused', diagnostics: [result.diagnostic] };
    fleet = result.fleet;
    canonical.push({ fault, target: text });
  }
  return { kind: 'fleet', fleet, active: canonical };
}

/** The fault that these words name, or why there is none (`sim/unknown-fault`). */
export function parseFault(
  name: string,
  target: string,
):
  | { readonly kind: 'fault'; readonly active: ActiveFault }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic } {
  if (isFaultName(name)) return { kind: 'fault', active: { fault: name, target } };
  const near = nearestWord(name, faultNames);
  const detail = `${JSON.stringify(name)} is not the name of a fault.`;
  const hint =
    near === undefined
      ? {}
      : { hint: prose`Did you mean ${near}? See all of them: ${meshwright('sim fault', '--list')}` };
  return { kind: 'refused', diagnostic: diagnose('sim/unknown-fault', { detail, ...hint }) };
}
