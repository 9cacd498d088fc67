import { compareText } from '../../model/lists.ts';
import type { Addressed } from '../../model/subject.ts';
import type { Resource } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { resources } from './resources.ts';

/** The place of a kind in the order of these resources; what is not among them comes last. */
function kindPlace(kind: string, all: readonly Pick<Resource, 'kind'>[] = resources): number {
  const place = all.findIndex((one) => one.kind === kind);
  return place < 0 ? all.length : place;
}

/** Everything that comes before a resource on a node, through however many others. */
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
  /** A kind, or the address of a property. */
  readonly resource: string;
}

/** By node, so that a reader finds its lines together; then by the order of the resources. */
export const byNode = (a: Placed & Pick<Addressed, 'about'>, b: Placed & Pick<Addressed, 'about'>): number =>
  compareText(a.node, b.node) ||
  kindPlace(a.about.kind) - kindPlace(b.about.kind) ||
  compareText(a.resource, b.resource);

/** By the order of the resources, then by node: the order of the work list and of steps that do not need each other. */
export const byResource = (a: Placed, b: Placed, all?: readonly Pick<Resource, 'kind'>[]): number =>
  kindPlace(a.resource, all) - kindPlace(b.resource, all) || compareText(a.node, b.node);
