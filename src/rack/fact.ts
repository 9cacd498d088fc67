import type { FactName, FactValues } from '../model/facts/fact-values.ts';
import type { Answer, Asked, Probe } from '../model/facts/probe.ts';
import type { Known } from '../model/known.ts';

/**
 * One observed property of a node: the probes that it reads and the pure function that judges their answers.
 * `parse` gets one answer per probe, in the order of `from`, and never throws.
 */
export interface Fact<K extends FactName> {
  readonly name: K;
  readonly from: readonly Probe[];
  /** Judges the answers, one for each of `from`; `undefined` where a probe was not asked. */
  readonly parse: (answers: readonly (Answer | undefined)[], asked: Asked) => Known<FactValues[K]>;
}
