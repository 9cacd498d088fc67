import { type Step, type StepId, stepsBefore } from '../../model/step.ts';
import { propertyKey } from '../../rack/property-key.ts';
import type { Property, Resource } from '../../rack/resource.ts';
import type { Scope } from '../goals/scope.ts';
import { nodesOf } from './nodes-of.ts';
import { byResource, kindsBefore } from './resource-order.ts';
import { isUsedBy } from './uses.ts';

type Ancestors = Map<StepId, ReadonlySet<StepId>>;

/** The properties that a step is about: those that it changes, else those of the steps that it needs. */
function stakes(steps: readonly Step[], properties: readonly Property[]): ReadonlyMap<StepId, readonly Property[]> {
  const byKey = new Map(properties.map((property) => [propertyKey(property), property]));
  const found = new Map<StepId, readonly Property[]>();
  for (const step of steps) {
    const own = step.changes.flatMap((id) => byKey.get(id) ?? []);
    const inherited = step.needs.flatMap((id) => found.get(id) ?? []);
    found.set(step.id, own.length > 0 ? own : [...new Set(inherited)]);
  }
  return found;
}

function kindsOf(step: Step, stake: readonly Property[], resources: readonly Resource[]): readonly string[] {
  const own = resources.find(({ kind }) => kind === step.resource);
  const all = own === undefined ? [] : kindsBefore(own, resources);
  return stake.length === 0 ? all : [...new Set(stake.flatMap(({ after }) => after ?? all))];
}

const withBehind = (ids: readonly StepId[], ancestors: Ancestors): ReadonlySet<StepId> =>
  new Set(ids.flatMap((id) => [id, ...(ancestors.get(id) ?? [])]));

/** Those that no other of them, and nothing that is needed already, stands behind. */
function nearest(candidates: readonly Step[], needs: readonly StepId[], ancestors: Ancestors): readonly StepId[] {
  const ids = candidates.map(({ id }) => id);
  const farther = new Set(ids.flatMap((id) => [...(ancestors.get(id) ?? [])]));
  const needed = withBehind(needs, ancestors);
  return ids.filter((id) => !farther.has(id) && !needed.has(id));
}

/**
 * Adds to each step what it needs of earlier resources: their steps on its node and on its peers, each only where no
 * nearer step needs it already. What a step needs of its own resource stays as that resource said.
 */
export function connectSteps(
  steps: readonly Step[],
  properties: readonly Property[],
  { desired, resources }: Scope,
): readonly Step[] {
  const ordered = orderSteps(steps, resources);
  const stakeOf = stakes(ordered, properties);
  const ancestors: Ancestors = new Map();
  const connected: Step[] = [];
  for (const step of ordered) {
    const stake = stakeOf.get(step.id) ?? [];
    const kinds = kindsOf(step, stake, resources);
    const nodes = [step.node, ...step.peers];
    const isEarlier = (one: Step): boolean => {
      const theirs = stakeOf.get(one.id) ?? [];
      const isUsed = stake.some((own) =>
        theirs.some((earlier) =>
          isUsedBy(own.about, { kind: one.resource, property: earlier, nodes: nodesOf(earlier) }, desired),
        ),
      );
      return (
        kinds.includes(one.resource) &&
        one.class !== 'manual' &&
        [one.node, ...one.peers].some((node) => nodes.includes(node)) &&
        (isUsed || stake.length === 0 || theirs.length === 0)
      );
    };
    const needs = [...step.needs, ...nearest(connected.filter(isEarlier), step.needs, ancestors)];
    ancestors.set(step.id, withBehind(needs, ancestors));
    connected.push({ ...step, needs });
  }
  return connected;
}

/** What a person does comes after what a program does, as far as nothing waits for it. */
function comparePlaces(a: Step, b: Step, resources: readonly Resource[] | undefined): number {
  return Number(a.class === 'manual') - Number(b.class === 'manual') || byResource(a, b, resources);
}

/**
 * The steps in an order in which each comes after those that it needs or is only to come after: by resource (in the
 * order of these, or of the registry), then by node, as far as that allows. @throws Error when two steps have one id,
 * when a step waits for one that is not there, or when they wait for each other in a ring.
 */
export function orderSteps(steps: readonly Step[], resources?: readonly Resource[]): readonly Step[] {
  const ids = new Set(steps.map(({ id }) => id));
  const stray = steps.find((step) => stepsBefore(step).some((id) => !ids.has(id)));
  if (ids.size !== steps.length) throw new Error('two steps of a plan have the same id');
  if (stray !== undefined) throw new Error(`step ${stray.id} needs a step that the plan does not have`);
  const done = new Set<StepId>();
  const ordered: Step[] = [];
  let rest = steps.toSorted((a, b) => comparePlaces(a, b, resources));
  while (rest.length > 0) {
    const next = rest.find((step) => stepsBefore(step).every((id) => done.has(id)));
    if (next === undefined) throw new Error('the steps of a plan need each other in a ring');
    ordered.push(next);
    done.add(next.id);
    rest = rest.filter((step) => step !== next);
  }
  return ordered;
}
