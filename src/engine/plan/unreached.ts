import type { FleetObservation } from '../../rack/fleet-observation.ts';

/** Nodes that gave no observation, by name: the code of the first problem, null where the node was not asked, and why. */
export type Unreached = Readonly<Record<string, { readonly code: string | null; readonly reason: string }>>;

/** Those of `nodes` of which nothing is known, with the first problem of each. */
export const unreachedOf = (nodes: readonly string[], { failures }: Pick<FleetObservation, 'failures'>): Unreached =>
  Object.fromEntries(
    nodes.map((node) => {
      const [first] = failures[node] ?? [];
      return [node, { code: first?.code ?? null, reason: first?.summary ?? 'The node was not asked.' }] as const;
    }),
  );
