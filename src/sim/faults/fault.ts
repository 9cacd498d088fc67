import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Prose } from '../../model/text/prose.ts';
import { macNamed, type SimulatedFleet, withMac } from '../model/fleet.ts';
import type { MacState } from '../model/mac.ts';

/** A target that was understood, or why not. `text` is the one form in which it is shown and cleared. */
export type Aimed<T> =
  | { readonly kind: 'aimed'; readonly at: T; readonly text: string }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** What applying a fault gave; `target` is the target's canonical text. */
export type FaultResult =
  | { readonly kind: 'applied'; readonly fleet: SimulatedFleet; readonly target: string }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** One named way in which a rack can be broken. It changes the model only; what the nodes print follows from that. */
export interface Fault {
  /** One line for `sim fault --list`: what it does and what is to be seen. */
  readonly summary: string;
  /** The form of its target, such as `NODE` or `NODE:RECEPTACLE`. */
  readonly targets: string;
  readonly apply: (fleet: SimulatedFleet, target: string) => FaultResult;
  /**
   * What of the fleet shows it: while that is as it would be without the fault, it counts as mended, whatever else it
   * left behind. The whole fleet when absent.
   */
  readonly symptoms?: (fleet: SimulatedFleet, target: string) => unknown;
}

/** What a fault is made from: how its target is read, and what it does there. */
export interface FaultParts<T> {
  readonly summary: string;
  readonly targets: string;
  readonly aim: (fleet: SimulatedFleet, target: string) => Aimed<T>;
  /** The changed fleet, or a text why nothing would change. */
  readonly change: (fleet: SimulatedFleet, at: T) => SimulatedFleet | string;
}

/** The diagnostic for a target that cannot be aimed at; `detail` is whole sentences. */
export const badTarget = (detail: string, hint?: Prose): Diagnostic =>
  diagnose('sim/bad-fault-target', { detail, ...(hint === undefined ? {} : { hint }) });

/** Puts a fault together. A fault that would change nothing is refused, so that it never shows as active for nothing. */
export function fault<T>({ summary, targets, aim, change }: FaultParts<T>): Fault {
  const apply = (fleet: SimulatedFleet, target: string): FaultResult => {
    const aimed = aim(fleet, target);
    if (aimed.kind === 'refused') return aimed;
    const changed = change(fleet, aimed.at);
    return typeof changed === 'string'
      ? { kind: 'refused', diagnostic: badTarget(`Nothing would change at ${aimed.text}: ${changed}.`) }
      : { kind: 'applied', fleet: changed, target: aimed.text };
  };
  return { summary, targets, apply };
}

/** A fault of one Mac as a whole: the changed state of that Mac, or a text why nothing would change. */
export const macFault = (
  summary: string,
  aim: FaultParts<MacState>['aim'],
  change: (mac: MacState) => MacState | string,
): Fault =>
  fault({
    summary,
    targets: 'NODE',
    aim,
    change: (fleet, mac) => {
      const changed = change(mac);
      return typeof changed === 'string' ? changed : withMac(fleet, mac.name, () => changed);
    },
  });

/** The same fault, which only these parts of its Mac show. */
export const shownBy = (whole: Fault, part: (mac: MacState) => unknown): Fault => ({
  ...whole,
  symptoms: (fleet, target) => {
    const mac = macNamed(fleet, target);
    return mac === undefined ? undefined : part(mac);
  },
});

/** A fault and the name under which `sim fault` has it. */
export const defineFault = <const N extends string>(name: N, fault: Fault): Fault & { readonly name: N } => ({
  name,
  ...fault,
});
