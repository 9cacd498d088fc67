import type { Gap, Resource, View } from './resource.ts';
import type { ResourceKind } from './resource-kind.ts';

/** What distinguishes one thing that is only looked at from another. */
export interface VerifyOnly {
  readonly kind: ResourceKind;
  readonly after: readonly ResourceKind[];
  readonly gaps: (view: View) => readonly Gap[];
}

/** A resource that no program can bring to its desired state: it has no properties, only blockers and unknowns. */
export const verifyOnly = ({ kind, after, gaps }: VerifyOnly): Resource => ({
  kind,
  after,
  properties: () => [],
  steps: () => ({ steps: [], rescues: [] }),
  blockers: ({ findingBlockers }) => findingBlockers(kind),
  gaps,
});
