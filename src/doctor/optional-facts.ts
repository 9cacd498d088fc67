import type { FactName } from '../model/fact-values.ts';

/** Facts that only make a hint more precise. A Mac on which one of them is unknown lacks nothing. */
const optionalFacts: readonly FactName[] = ['software-updates'];

/** Whether a fact may stay unknown without a finding. */
export const isOptionalFact = (name: FactName): boolean => optionalFacts.includes(name);
