import type { FactName } from '../model/fact-values.ts';

/** Facts that make hints more precise or are a second source. A Mac on which one of them is unknown lacks nothing. */
const optionalFacts: readonly FactName[] = ['software-updates', 'receptacle-places', 'rdma-switch'];

/** Whether a fact may stay unknown without a finding. */
export const isOptionalFact = (name: FactName): boolean => optionalFacts.includes(name);
