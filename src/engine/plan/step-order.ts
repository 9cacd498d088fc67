import { loadedModels } from '../../desired/layouts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import { compareText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { type Step, type StepId, stepsBefore } from '../../model/step.ts';
import type { Addressed, AddressParts } from '../../model/subject.ts';
import { wantedGateways } from '../../rack/placement/endpoint/gateways.ts';
import { nodesOf, type Property, propertyKey, type Resource } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { Scope } from '../goals/scope.ts';
import { resources } from '../resources.ts';

type Ancestors = Map<StepId, ReadonlySet<StepId>>;

/** The properties that a step changes. If it changes none, the properties of the steps that it needs. */
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

/** Drops candidates on which another candidate or an existing need already depends. */
function nearest(candidates: readonly Step[], needs: readonly StepId[], ancestors: Ancestors): readonly StepId[] {
  const ids = candidates.map(({ id }) => id);
  const farther = new Set(ids.flatMap((id) => [...(ancestors.get(id) ?? [])]));
  const needed = withBehind(needs, ancestors);
  return ids.filter((id) => !farther.has(id) && !needed.has(id));
}

/** Adds each step's needs: earlier resources' steps on its nodes, except those that a nearer step already needs. */
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

/**
 * Orders steps so that each comes after those in its `needs` and `after`, otherwise by resource and then by node. Manual
 * steps come last unless other steps wait for them.
 * @throws Error for duplicate ids, missing steps and cycles.
 */
export function orderSteps(steps: readonly Step[], resources?: readonly Resource[]): readonly Step[] {
  const ids = new Set(steps.map(({ id }) => id));
  const stray = steps.find((step) => stepsBefore(step).some((id) => !ids.has(id)));
  if (ids.size !== steps.length) throw new Error('two steps of a plan have the same id');
  if (stray !== undefined) throw new Error(`step ${stray.id} needs a step that is missing from the plan`);
  const done = new Set<StepId>();
  const ordered: Step[] = [];
  const isManual = (step: Step): number => Number(step.class === 'manual');
  let rest = steps.toSorted((a, b) => isManual(a) - isManual(b) || byResource(a, b, resources));
  while (rest.length > 0) {
    const next = rest.find((step) => stepsBefore(step).every((id) => done.has(id)));
    if (next === undefined) throw new Error("a plan's steps need each other in a cycle");
    ordered.push(next);
    done.add(next.id);
    rest = rest.filter((step) => step !== next);
  }
  return ordered;
}

/** A possible obstacle to later properties, with its nodes. */
export interface Earlier {
  /** The kind of its resource. */
  readonly kind: string;
  /** One property of its kind; absent for all on its nodes. */
  readonly property?: Addressed;
  readonly nodes: readonly NodeName[];
}

/** True if a cable joins a receptacle on one rank's node to another rank's node. */
function isBetweenNodes({ thunderbolt }: DesiredFleet, { nodes }: DesiredPlacement, earlier: Earlier): boolean {
  const link = thunderbolt.links.find(({ ends }) =>
    ends.some((end) => end.receptacle === earlier.property?.about.receptacle && earlier.nodes.includes(end.node)),
  );
  return link?.ends.every(({ node }) => nodes.includes(node)) ?? false;
}

/** True if a gateway is not this placement's gateway in the file. Such leftovers are stopped before its ranks. */
function isLeftBy(name: string | undefined, { property, nodes }: Earlier, desired: DesiredFleet): boolean {
  const about = property?.about;
  if (about?.port === undefined || about.part !== undefined) return false;
  const isBehind = (node: NodeName): boolean =>
    wantedGateways(desired, node).some(
      ({ port, placements }) => port === about.port && placements.some((one) => one.name === name),
    );
  return !nodes.some(isBehind);
}

/** The account that a property needs; a tree needs one only if it builds or downloads files. */
function accountFor({ kind, name }: AddressParts, { system, runtimes, models }: DesiredFleet): string | undefined {
  const { ranks, gateway, transfers } = system.accounts;
  switch (kind) {
    case 'gateway':
      return gateway;
    case 'runtime':
      return runtimes.find((one) => one.name === name)?.python === undefined ? undefined : ranks;
    case 'model':
      return models.find((one) => one.name === name)?.source.kind === 'url' ? transfers : undefined;
    default:
      return ranks;
  }
}

/** True if a later property depends on an earlier one. A placement needs its own runtime, model, account and links. */
export function isUsedBy(later: AddressParts, earlier: Earlier, desired: DesiredFleet): boolean {
  const name = later.kind === 'placement' ? later.placement : undefined;
  const placement = desired.placements.find((one) => one.name === name);
  if (earlier.kind === 'gateway') return isLeftBy(name, earlier, desired);
  const about = earlier.property?.about;
  if (earlier.kind === 'accounts' && about !== undefined) return about.name === accountFor(later, desired);
  if (placement === undefined) return true;
  switch (earlier.kind) {
    case 'runtime':
      return about === undefined || (about.name === placement.runtime && about.part === undefined);
    case 'model':
      return about === undefined || loadedModels(placement).some((model) => model === about.name);
    case 'thunderbolt-link':
      return earlier.nodes.filter((node) => placement.nodes.includes(node)).length > 1;
    case 'link-address':
      return about === undefined || isBetweenNodes(desired, placement, earlier);
    default:
      return true;
  }
}

/** The index of a kind in the resource order; unknown kinds come last. */
function kindPlace(kind: string, all: readonly Pick<Resource, 'kind'>[] = resources): number {
  const place = all.findIndex((one) => one.kind === kind);
  return place < 0 ? all.length : place;
}

/** All kinds that come before a resource on a node, directly or indirectly. */
export function kindsBefore({ after }: Pick<Resource, 'after'>, all: readonly Resource[]): readonly ResourceKind[] {
  const found = new Set<ResourceKind>();
  const visit = (kind: ResourceKind): void => {
    if (!found.has(kind)) {
      found.add(kind);
      all.find((one) => one.kind === kind)?.after.forEach(visit);
    }
  };
  after.forEach(visit);
  return [...found];
}

interface Placed {
  readonly node: string;
  /** A kind or a property address. */
  readonly resource: string;
}

/** Sorts by node, so that a node's lines are adjacent, then by resource order. */
export const byNode = (a: Placed & Pick<Addressed, 'about'>, b: Placed & Pick<Addressed, 'about'>): number =>
  compareText(a.node, b.node) ||
  kindPlace(a.about.kind) - kindPlace(b.about.kind) ||
  compareText(a.resource, b.resource);

/** Sorts by resource order, then by node: the order of blockers and of independent steps. */
export const byResource = (a: Placed, b: Placed, all?: readonly Pick<Resource, 'kind'>[]): number =>
  kindPlace(a.resource, all) - kindPlace(b.resource, all) || compareText(a.node, b.node);
