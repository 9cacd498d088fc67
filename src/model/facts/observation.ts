import type { Known } from '../known.ts';
import type { NodeName } from '../node.ts';

/** All facts of one node at one instant by name; every fact is there, known or unknown. Read one through its definition. */
export type Facts = Readonly<Record<string, Known<unknown>>>;

/** What one observation found out about one node. */
export interface NodeObservation {
  readonly node: NodeName;
  readonly facts: Facts;
}
