import { isDeepStrictEqual } from 'node:util';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { underDaemon } from '../faults/fault-network.ts';
import { type FaultName, faults } from '../faults/faults.ts';
import { acted, type HandsAct } from '../hands.ts';
import { applyWrite, type Write, type Written } from '../tools/registry.ts';
import type { Cable } from './cables.ts';
import { afterKill, type MacState, type SimulatedFleet, withMac } from './fleet.ts';
import { hotPlugged, started } from './interfaces.ts';
import { withAutomaticLogin } from './node-files.ts';
import type { PlistDict } from './plist.ts';
import { withoutProcesses } from './rdma.ts';
import { seededUuid } from './seed.ts';

/** One thing that happened to a rack. Its state is the healthy rack after everything that happened, in order. */
export type SimEvent =
  /** A fault was set; the target in its canonical form. */
  | { readonly kind: 'fault'; readonly fault: FaultName; readonly target: string }
  | ({ readonly kind: 'write' } & Write)
  /** The network preferences of a Mac as somebody left the file. */
  | { readonly kind: 'preferences'; readonly mac: string; readonly preferences: PlistDict }
  /** The Mac itself started, wherever the address of its node leads. */
  | { readonly kind: 'boot'; readonly mac: string; readonly atEpochSeconds: number }
  /** Somebody plugged the cables in so, and nothing else. */
  | { readonly kind: 'cables'; readonly cables: readonly Cable[] }
  /** Somebody moved one or two plugs. */
  | { readonly kind: 'hands'; readonly act: HandsAct }
  /** A person enabled RDMA in Recovery, or from macOS 27 on in System Settings. */
  | { readonly kind: 'enable-rdma'; readonly mac: string }
  /** A rank has sent much TCP through a cable. */
  | { readonly kind: 'tcp-load'; readonly mac: string }
  /** A service was sent KILL. */
  | { readonly kind: 'killed'; readonly mac: string }
  /** Processes that exist in the model alone were sent a signal that ends them. */
  | { readonly kind: 'processes-ended'; readonly mac: string; readonly pids: readonly number[] }
  /** exo's daemon has run once. */
  | { readonly kind: 'daemon-run'; readonly mac: string }
  /** Somebody has disabled exo's daemon, or enabled it again. */
  | { readonly kind: 'daemon'; readonly mac: string; readonly isStopped: boolean }
  /** Somebody chose in System Settings whom the Mac logs in by itself; nobody when absent. */
  | { readonly kind: 'automatic-login'; readonly mac: string; readonly user?: string }
  /** Somebody typed the FileVault password. */
  | { readonly kind: 'unlock'; readonly mac: string };

/** The rack after one more event, and what came of the event itself. */
export type Happened =
  | {
      readonly kind: 'done';
      readonly fleet: SimulatedFleet;
      readonly written?: Written;
      readonly target?: string;
      /** What hands did, in a sentence without a full stop. */
      readonly text?: string;
    }
  /** A fault that cannot be applied, or what no hands can do; nothing has changed. */
  | { readonly kind: 'refused'; readonly fleet: SimulatedFleet; readonly diagnostic: Diagnostic };

const withCables = (fleet: SimulatedFleet, cables: readonly Cable[]): SimulatedFleet =>
  isDeepStrictEqual([fleet.cables, fleet.hanging, fleet.strangers], [cables, [], []])
    ? fleet
    : { ...fleet, cables, hanging: [], strangers: [] };

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** The Mac with exo's daemon so; one that has none is left alone. */
function withDaemon(mac: MacState, isStopped: boolean): MacState {
  const networkDaemon = isStopped ? 'stopped' : 'fights';
  const { networkDaemon: before } = mac.ailments;
  return before === undefined || before === networkDaemon
    ? mac
    : { ...mac, ailments: { ...mac.ailments, networkDaemon } };
}

/** The Mac after what happened to it alone; the very same one where nothing came of that. */
function changedMac(mac: MacState, event: Extract<SimEvent, { readonly mac: string }>): MacState {
  switch (event.kind) {
    case 'preferences': {
      const { preferences } = event;
      return isDeepStrictEqual(mac.preferences, preferences) ? mac : { ...mac, preferences };
    }
    case 'boot':
      return freshlyBooted(mac, event.atEpochSeconds);
    case 'enable-rdma':
      return mac.isRdmaEnabled ? mac : { ...mac, isRdmaEnabled: true };
    case 'tcp-load':
      return mac.ailments.panicsUnderTcp && mac.ailments.panic === undefined
        ? { ...mac, ailments: { ...mac.ailments, panic: 'tcp-load' } }
        : mac;
    case 'killed':
      return afterKill(mac);
    case 'processes-ended':
      return withoutProcesses(mac, event.pids);
    case 'daemon-run':
      return underDaemon(mac);
    case 'daemon':
      return withDaemon(mac, event.isStopped);
    case 'automatic-login':
      return withAutomaticLogin(mac, event.user);
    case 'unlock':
      return mac.connection.filevault === 'unlocked'
        ? mac
        : { ...mac, connection: { ...mac.connection, filevault: 'unlocked' } };
  }
}

/** Lets one thing happen. Pure. */
export function happen(fleet: SimulatedFleet, event: SimEvent): Happened {
  switch (event.kind) {
    case 'fault': {
      const result = faults[event.fault].apply(fleet, event.target);
      if (result.kind === 'refused') return { ...result, fleet };
      return { kind: 'done', fleet: hotPlugged(fleet, result.fleet), target: result.target };
    }
    case 'write': {
      const written = applyWrite(fleet, event);
      return { kind: 'done', fleet: written.fleet, written };
    }
    case 'cables':
      return { kind: 'done', fleet: hotPlugged(fleet, withCables(fleet, event.cables)) };
    case 'hands': {
      const result = acted(fleet, event.act);
      if (result.kind === 'refused') {
        const diagnostic = diagnose('sim/impossible-act', { detail: sentence(result.reason) });
        return { kind: 'refused', fleet, diagnostic };
      }
      return { kind: 'done', fleet: hotPlugged(fleet, result.fleet), text: result.text };
    }
    default:
      return { kind: 'done', fleet: withMac(fleet, event.mac, (mac) => changedMac(mac, event)) };
  }
}

/** The rack after all of these; what cannot be applied or done any more does nothing. */
export const replay = (start: SimulatedFleet, events: readonly SimEvent[]): SimulatedFleet =>
  events.reduce((fleet, event) => happen(fleet, event).fleet, start);

/** What a start leaves of what was wrong, and the report of the panic that it followed. */
function afterStart({ ailments, panics }: MacState, atEpochSeconds: number): Pick<MacState, 'ailments' | 'panics'> {
  const { panic, leaksWired, leakedWiredBytes, isRdmaHeld, isVerbsHung, ...lasting } = ailments;
  return {
    ailments: { ...lasting, isRdmaHung: false, deadReceptacles: [], lacksDomains: false },
    ...(panic !== undefined && { panics: [...(panics ?? []), { cause: panic, atEpochSeconds }] }),
  };
}

/**
 * A Mac that has just started: a new boot session, and everything gone that only the running system had. Files, NVRAM,
 * power settings and network preferences are as they were.
 */
function freshlyBooted(mac: MacState, atEpochSeconds: number): MacState {
  const count = mac.bootSession.count + 1;
  const { isRdmaWaiting: _, ...rest } = mac;
  return {
    ...started(rest),
    bootSession: {
      uuid: seededUuid([mac.hardwareUuid, 'boot', count]),
      count,
      bootedAtEpochSeconds: atEpochSeconds,
    },
    wiredLimitMegabytes: 0,
    ...afterStart(mac, atEpochSeconds),
    // FileVault asks for a password before macOS starts.
    connection: mac.isFileVaultOn ? { ...mac.connection, filevault: 'preboot' } : mac.connection,
  };
}
