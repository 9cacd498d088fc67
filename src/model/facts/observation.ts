import type { Known } from '../known.ts';
import type { NodeName } from '../node.ts';
import type { FactValues } from './fact-values.ts';

/**
 * All facts of one node at one instant; every fact is there, known or unknown. The type has those of `FactValues`; any
 * other is read through its definition, with `read`.
 */
export type Facts = { readonly [K in keyof FactValues]: Known<FactValues[K]> };

/** What one observation found out about one node. */
export interface NodeObservation {
  readonly node: NodeName;
  readonly facts: Facts;
}
