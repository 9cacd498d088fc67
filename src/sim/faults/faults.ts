import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { nearestWord } from './fault.ts';
import { accessFaults } from './fault-access.ts';
import { ailmentFaults } from './fault-ailments.ts';
import { cableFaults } from './fault-cables.ts';
import { networkFaults } from './fault-network.ts';
import { settingFaults } from './fault-settings.ts';

/** All faults by name. A new fault needs only a definition in one of these tables. */
export const faults = { ...accessFaults, ...ailmentFaults, ...cableFaults, ...networkFaults, ...settingFaults };

export type FaultName = keyof typeof faults;

const isFaultName = (name: string): name is FaultName => Object.hasOwn(faults, name);

export const faultNames: readonly FaultName[] = Object.keys(faults).filter(isFaultName).sort();

/** An active fault. `target` may be any form that the fault accepts. */
export interface ActiveFault {
  readonly fault: FaultName;
  readonly target: string;
}

export function parseFault(
  name: string,
  target: string,
):
  | { readonly kind: 'fault'; readonly active: ActiveFault }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic } {
  if (isFaultName(name)) return { kind: 'fault', active: { fault: name, target } };
  const near = nearestWord(name, faultNames);
  const detail = `${JSON.stringify(name)} is not a fault.`;
  const hint = near && prose`Did you mean ${near}? List of faults: ${meshwright('sim fault', '--list')}`;
  return { kind: 'refused', diagnostic: diagnose('sim/unknown-fault', { detail, ...given({ hint }) }) };
}
