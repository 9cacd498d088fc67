import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { NodeObservation } from '../model/facts/fact-values.ts';

/** What one run found out about the whole fleet. A node that was not asked is in neither record. */
export interface FleetObservation {
  /** By node name. A node that could not be reached has every fact `unknown('unreachable')`. */
  readonly nodes: Readonly<Record<string, NodeObservation>>;
  /** By node name: why a node could not be observed, or not to the end. */
  readonly failures: Readonly<Record<string, readonly Diagnostic[]>>;
}
