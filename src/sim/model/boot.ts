import { seededUuid } from '../seed.ts';
import { started } from './configd.ts';
import { type SimulatedFleet, withMac } from './fleet.ts';
import type { MacState } from './mac.ts';

/** One start of one Mac. */
export interface Boot {
  /** The Mac itself, wherever the address of its node leads. */
  readonly mac: string;
  readonly atEpochSeconds: number;
}

/** What a start leaves of what was wrong, and the report of the panic that it followed. */
function afterStart({ ailments, panics }: MacState, atEpochSeconds: number): Pick<MacState, 'ailments' | 'panics'> {
  const { panic, leaksWired, leakedWiredBytes, isRdmaHeld, isVerbsHung, ...lasting } = ailments;
  return {
    ailments: { ...lasting, isRdmaHung: false, deadReceptacles: [], lacksDomains: false },
    ...(panic !== undefined && { panics: [...(panics ?? []), { cause: panic, atEpochSeconds }] }),
  };
}

/** A Mac that has just started: a new boot session, and everything gone that only the running system had. */
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

/** The fleet after this start: files, NVRAM, power settings and network preferences are as they were. */
export const booted = (fleet: SimulatedFleet, { mac, atEpochSeconds }: Boot): SimulatedFleet =>
  withMac(fleet, mac, (one) => freshlyBooted(one, atEpochSeconds));
