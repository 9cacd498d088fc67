import { type CodeEntry, type CodesOf, defineCodes } from '../diagnostics/code-entry.ts';
import { type DiagnosticFields, diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { nodeSubject } from '../model/subject.ts';
import type { Examination, ExaminedNode } from './examination.ts';
import type { FactDefinition } from './fact.ts';
import type { ResourceKind } from './resource-kind.ts';

/** The condition under which a finding blocks a resource. */
type RoleCondition =
  /** The file needs RDMA on a node of the finding; otherwise the finding is only reported. */
  | 'rdma-needed'
  /** Like `rdma-needed`, but only if the addresses are right: `apply` sets wrong addresses, which may be the cause. */
  | 'rdma-needed-and-addressed'
  /** The file does not let `apply` remove the bridge; otherwise the finding disappears with the bridge. */
  | 'bridge-stays'
  /** Like `bridge-stays`, but always reported: the bridge does harm until `apply` removes it. */
  | 'bridge-stays-else-reported';

/**
 * The meaning of a doctor finding for a plan. `reported`: it is only reported, which is the default. `converged`: `apply`
 * repairs it. An object: it blocks a resource.
 */
export type FindingRole =
  | 'reported'
  | 'converged'
  /** `apply` repairs the finding if it sets an address of the node; otherwise the finding is only reported. */
  | 'converged-by-address'
  /** `apply` repairs the finding if the file lets it set clocks; otherwise the finding is only reported. */
  | 'converged-by-clock'
  | { readonly blocks: ResourceKind; readonly when?: RoleCondition };

export interface RuleCode extends CodeEntry {
  readonly role: FindingRole;
  readonly facts: readonly FactDefinition[];
}

/** Codes with their entries. Without a role, a finding is `reported`; without facts, it depends only on the file. */
export type RuleCodes = Readonly<Record<string, CodeEntry & Partial<RuleCode>>>;

/** One finding of a rule. Summary, severity and hint default to those of the finding's code. */
export type Finding<C extends string> = DiagnosticFields & { readonly code: C };

export interface DefinedRule<C extends RuleCodes = RuleCodes> {
  readonly codes: CodesOf<C>;
  readonly rule: Rule;
}

export function defineRule<C extends RuleCodes>(
  entries: C,
  find: (examination: Examination) => readonly Finding<keyof C & string>[],
): DefinedRule<C> {
  const codes = defineCodes(
    Object.fromEntries(
      Object.entries(entries).map(([code, entry]) => [code, { role: 'reported', facts: [], ...entry }]),
    ) as C,
  );
  return { codes, rule: (examination) => find(examination).map(({ code, ...rest }) => diagnose(codes[code], rest)) };
}

/** Like {@link defineRule}, but calls `find` for each node, which is the subject of findings that name no other. */
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

/** Finds one kind of problem from known facts: an unknown fact yields no finding. The order does not matter. */
export type Rule = (examination: Examination) => readonly Diagnostic[];
