import type { FactName } from '../model/fact-values.ts';
import type { Facts } from '../model/observation.ts';
import { hasRdmaInSettings } from './macos.ts';

/** Facts that only make hints more precise. */
const optionalFacts: readonly FactName[] = ['software-updates', 'receptacle-places'];

/** Whether a fact may stay unknown without a finding. The RDMA switch decides something from macOS 27 on only. */
export const isOptionalFact = (name: FactName, facts: Facts): boolean =>
  optionalFacts.includes(name) || (name === 'rdma-switch' && !hasRdmaInSettings(facts));
