import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type Boot, booted } from './boot.ts';
import { hotPlugged } from './configd.ts';
import { type FaultName, faults } from './faults.ts';
import { type SimulatedFleet, withMac } from './fleet.ts';
import type { PlistDict } from './plist.ts';
import { applyWrite, type Write, type Written } from './writes/apply-write.ts';

/** One thing that happened to a rack. Its state is the healthy rack after everything that happened, in order. */
export type SimEvent =
  /** A fault was set; the target in its canonical form. */
  | { readonly kind: 'fault'; readonly fault: FaultName; readonly target: string }
  | ({ readonly kind: 'write' } & Write)
  /** The network preferences of a Mac as somebody left the file. */
  | { readonly kind: 'preferences'; readonly mac: string; readonly preferences: PlistDict }
  | ({ readonly kind: 'boot' } & Boot);

/** The rack after one more event, and what came of the event itself. */
export type Happened =
  | { readonly kind: 'done'; readonly fleet: SimulatedFleet; readonly written?: Written; readonly target?: string }
  /** A fault that cannot be applied; nothing has changed. */
  | { readonly kind: 'refused'; readonly fleet: SimulatedFleet; readonly diagnostic: Diagnostic };

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
    case 'preferences':
      return { kind: 'done', fleet: withMac(fleet, event.mac, (mac) => ({ ...mac, preferences: event.preferences })) };
    case 'boot':
      return { kind: 'done', fleet: booted(fleet, event) };
  }
}

/** The rack after all of these; a fault that cannot be applied any more does nothing. */
export const replay = (start: SimulatedFleet, events: readonly SimEvent[]): SimulatedFleet =>
  events.reduce((fleet, event) => happen(fleet, event).fleet, start);
