import { type CodeEntry, type CodesOf, defineCodes } from '../diagnostics/code-entry.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Examination } from './examination.ts';
import type { ResourceKind } from './resource-kind.ts';
import type { Rule } from './rule.ts';

/** When a finding keeps anything from being done. */
export type RoleCondition =
  /** A node that it is about needs RDMA by the file; else it is told. */
  | 'rdma-needed'
  /** The same, and the addresses of its receptacles are as they should be; else apply may mend it by setting them. */
  | 'rdma-needed-and-addressed'
  /** The file does not let apply take the bridge away; else the trouble goes with it. */
  | 'bridge-stays'
  /** The same; where apply takes the bridge away it is told all the same, since it does harm until then. */
  | 'bridge-stays-else-told';

/**
 * What a finding of the doctor means to a plan: `told` is only worth knowing, `converged` is what apply mends by
 * itself, a blocker is neither and stops a resource.
 */
export type FindingRole =
  | 'told'
  | 'converged'
  /** Apply mends it where it sets an address of the node; else it is told. */
  | 'converged-by-address'
  /** Apply mends it where the file lets it set clocks; else it is told. */
  | 'converged-by-clock'
  | { readonly blocks: ResourceKind; readonly when?: RoleCondition };

/** A code of a rule: what it says, what it means to a plan, and the names of the facts that show it. */
export interface RuleCode extends CodeEntry {
  readonly role: FindingRole;
  readonly facts: readonly string[];
}

/** A rule with its own codes. */
export interface DefinedRule<C extends Readonly<Record<string, RuleCode>> = Readonly<Record<string, RuleCode>>> {
  readonly codes: CodesOf<C>;
  readonly rule: Rule;
}

/** Makes a rule and its codes; the lists of rules and of codes each take their part. */
export function defineRule<C extends Readonly<Record<string, RuleCode>>>(
  entries: C,
  find: (examination: Examination, codes: CodesOf<C>) => readonly Diagnostic[],
): DefinedRule<C> {
  const codes = defineCodes(entries);
  return { codes, rule: (examination) => find(examination, codes) };
}
