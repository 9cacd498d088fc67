import { type CodeEntry, type CodesOf, defineCodes } from '../diagnostics/code-entry.ts';
import { type DiagnosticFields, diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { nodeSubject } from '../model/subject.ts';
import type { Examination, ExaminedNode } from './examination.ts';
import type { FactDefinition } from './fact.ts';
import type { ResourceKind } from './resource-kind.ts';

/** When a finding blocks a resource. */
type RoleCondition =
  /** The file needs RDMA on a node of the finding; otherwise the finding is only reported. */
  | 'rdma-needed'
  /** The same, and the addresses of its receptacles are right; otherwise `apply` may repair it by setting them. */
  | 'rdma-needed-and-addressed'
  /** The file does not let `apply` remove the bridge; otherwise the finding goes with the bridge. */
  | 'bridge-stays'
  /** The same; where `apply` removes the bridge, the finding is still reported, since the bridge does harm until then. */
  | 'bridge-stays-else-told';

/**
 * What a finding of the doctor means to a plan. `told`: it is only reported. `converged`: `apply` repairs it. Anything else
 * blocks a resource.
 */
export type FindingRole =
  | 'told'
  | 'converged'
  /** `apply` repairs it where it sets an address of the node; otherwise it is only reported. */
  | 'converged-by-address'
  /** `apply` repairs it where the file lets it set clocks; otherwise it is only reported. */
  | 'converged-by-clock'
  | { readonly blocks: ResourceKind; readonly when?: RoleCondition };

/** A code of a rule: what it says, what it means to a plan, and the facts that show it. */
export interface RuleCode extends CodeEntry {
  readonly role: FindingRole;
  readonly facts: readonly FactDefinition[];
}

/** The codes of one rule. */
export type RuleCodes = Readonly<Record<string, RuleCode>>;

/** What a rule finds, under one of its codes: summary, severity and hint are those of the code unless given. */
export type Finding<C extends string> = DiagnosticFields & { readonly code: C };

/** A rule with its own codes. */
export interface DefinedRule<C extends RuleCodes = RuleCodes> {
  readonly codes: CodesOf<C>;
  readonly rule: Rule;
}

/** Makes a rule and its codes; the lists of rules and of codes each take their part. */
export function defineRule<C extends RuleCodes>(
  entries: C,
  find: (examination: Examination) => readonly Finding<keyof C & string>[],
): DefinedRule<C> {
  const codes = defineCodes(entries);
  return { codes, rule: (examination) => find(examination).map(({ code, ...rest }) => diagnose(codes[code], rest)) };
}

/** The same for one node after the other, which is the subject of a finding that names no other. */
export const defineNodeRule = <C extends RuleCodes>(
  entries: C,
  find: (
    node: ExaminedNode,
    examination: Examination,
  ) => Finding<keyof C & string> | readonly Finding<keyof C & string>[],
): DefinedRule<C> =>
  defineRule(entries, (examination) =>
    examination.nodes.flatMap((node) =>
      [find(node, examination)].flat().map((found) => ({ subject: nodeSubject(node.name), ...found })),
    ),
  );

/**
 * One kind of trouble. It judges only what is known: an unknown fact makes it silent, never right and never wrong.
 * The order in which it finds things has no meaning.
 */
export type Rule = (examination: Examination) => readonly Diagnostic[];
