import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { judgeProperty } from '../../rack/change.ts';
import type { Blocker, Gap, Property, Resource, View } from '../../rack/resource.ts';
import type { Scope } from '../goals/scope.ts';
import type { Context } from './context.ts';
import { nodesOf } from './nodes-of.ts';

/** One resource with all that it says about the fleet. */
export interface Assessed {
  readonly resource: Resource;
  /** All of them, whatever the goal. */
  readonly properties: readonly Property[];
  /** None, where the goal leaves the kind alone. */
  readonly blockers: readonly Blocker[];
  readonly gaps: readonly Gap[];
}

/** What is to be done about properties that a goal needs and does not change itself. */
export const convergeFirst = (addresses: readonly string[]): Prose =>
  prose`Bring ${addresses.join(', ')} to what the file says first: ${meshwright('apply')}`;

/** A goal that changes one kind only takes what is wrong with the others as a blocker. */
function unmetBlockers({ kind }: Resource, properties: readonly Property[]): readonly Blocker[] {
  return properties
    .filter((property) => judgeProperty(property) === 'differs')
    .map((property) => ({
      code: 'plan/not-converged',
      node: property.node,
      resource: kind,
      property,
      action: convergeFirst([property.address]),
      isBroughtByApply: true,
      isHands: false,
      peers: property.peers ?? [],
      blocks: [],
    }));
}

function assess(resource: Resource, scope: Scope, view: View): Assessed {
  const properties = resource.properties(view);
  if (!scope.barring.includes(resource.kind)) {
    return { resource, properties, blockers: [], gaps: [] };
  }
  const isAsked = (one: Blocker): boolean => nodesOf(one).some((node) => view.asked.includes(node));
  const others = properties.filter((property) => !scope.isMeant(resource.kind, property));
  return {
    resource,
    properties,
    blockers: [...resource.blockers(view).filter(isAsked), ...unmetBlockers(resource, others)],
    gaps: resource.gaps?.(view) ?? [],
  };
}

/** Asks every resource once, in the order in which a node is changed. */
export const assessAll = ({ scope, view }: Context): readonly Assessed[] =>
  scope.resources.map((resource) => assess(resource, scope, view));
