import type { Resource } from './resource.ts';

/** A resource that no program can bring to its desired state: it has no properties, only blockers and unknowns. */
export const verifyOnly = (one: Pick<Resource, 'kind' | 'after' | 'gaps' | 'isPrecondition'>): Resource => ({
  ...one,
  properties: () => [],
  steps: () => ({ steps: [], rescues: [] }),
  blockers: ({ findingBlockers }) => findingBlockers(one.kind),
});
