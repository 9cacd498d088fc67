import type { NodeObservation } from '../../model/facts/observation.ts';
import type { NodeName } from '../../model/node.ts';
import { isRunning, seeMember } from '../../rack/placement/members/member.ts';

/** One way in which the file runs a placement: the placement itself, or its fallback. */
export interface Layout {
  readonly name: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
}

/** What of a fleet has been observed so far; a node that cannot be reached has facts that are unknown. */
export type SeenSoFar = Readonly<Record<string, NodeObservation>>;

/**
 * Whether no token that this leader could still give would change how its meshes are judged: each has lost a rank. A
 * member that was seen without its process is lost. A member that nothing is known of counts only where `countsUnseen`:
 * its mesh may well answer. Ranks of layouts that the file does not have are waited for.
 */
export function hasLostMeshes(
  leader: NodeName,
  layouts: readonly Layout[],
  seen: SeenSoFar,
  countsUnseen: boolean,
): boolean {
  const placements = seen[leader]?.facts.placements;
  if (placements?.kind !== 'known') return false;
  const isLost =
    (placement: string) =>
    (node: NodeName): boolean => {
      const facts = seen[node]?.facts;
      if (facts === undefined) return false;
      const member = seeMember(node, placement, facts).seen;
      return member.kind === 'known' ? !isRunning(member.value) : countsUnseen;
    };
  return placements.value
    .filter(({ rank }) => rank === 0)
    .every(({ placement, size }) => {
      const own = layouts.filter(
        ({ name, nodes }) => name === placement && nodes.length === size && nodes[0] === leader,
      );
      return own.length > 0 && own.every(({ nodes }) => nodes.some(isLost(placement)));
    });
}

/** Ends requests for a token that no longer matter, while a fleet is observed. */
export interface TokenWait {
  /** Whether a node leads a mesh of several nodes. */
  readonly leads: (node: NodeName) => boolean;
  /** Aborted once the token of this leader is not worth waiting for. */
  readonly signalFor: (leader: NodeName) => AbortSignal;
  /** What was seen of a node, without any token. */
  readonly note: (observation: NodeObservation) => void;
  readonly stop: () => void;
}

/**
 * Ends the wait for tokens while a fleet is observed.
 *
 * @param unseenMs how long tokens are waited for at least where a member cannot be reached
 */
export function createTokenWait(layouts: readonly Layout[], unseenMs: number): TokenWait {
  const seen: Record<string, NodeObservation> = Object.create(null);
  const asking = new Map<NodeName, AbortController>();
  let countsUnseen = false;
  const endLost = (): void => {
    for (const [leader, asked] of asking) {
      if (hasLostMeshes(leader, layouts, seen, countsUnseen)) asked.abort();
    }
  };
  const patience = setTimeout(() => {
    countsUnseen = true;
    endLost();
  }, unseenMs);
  patience.unref();
  return {
    leads: (node) => layouts.some(({ nodes }) => nodes.length > 1 && nodes[0] === node),
    signalFor: (leader) => {
      const asked = asking.get(leader) ?? new AbortController();
      asking.set(leader, asked);
      return asked.signal;
    },
    note: (observation) => {
      seen[observation.node] = observation;
      endLost();
    },
    stop: () => clearTimeout(patience),
  };
}
