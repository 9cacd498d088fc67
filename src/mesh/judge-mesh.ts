import type { PlacementMember, TokenSight } from '../model/fact-values.ts';
import type { UnknownReason } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import type { NodeObservation } from '../model/observation.ts';
import { deadEvidence, idleEvidence, missingRanks, silentEvidence, unequalRanks } from './evidence.ts';
import { isRunning, type Member, type RankOnNode, seeMember } from './member.ts';

/** What the file says about a mesh, as far as judging it needs it. */
export interface ExpectedMesh {
  readonly placement: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
  /** Of the placement as the file has it. */
  readonly digest: string;
}

/**
 * How a placement is: `silent` when all ranks run and give no token (people call it hung), `changed` when all run and
 * are not what the file says, `dead` when none runs and one was started, `ready` when all are loaded and none was
 * started, `unknown` when something about a member could not be seen.
 */
export type MeshState =
  | 'absent'
  | 'stopped'
  | 'ready'
  | 'dead'
  | 'partial'
  | 'silent'
  | 'changed'
  | 'serving'
  | 'unknown';

/** A placement over its nodes. */
export interface Mesh {
  readonly placement: string;
  readonly state: MeshState;
  /** Why it is judged so, in words that go on `<state>: `; for `unknown`, what could not be seen. */
  readonly evidence: string;
  /** Set for `unknown`: the reason of the first member that could not be judged. */
  readonly unknownReason?: UnknownReason;
  /** The highest generation that any node has seen, members of old included; 0 when there was none. */
  readonly generation: number;
  /** Whether its endpoint gave a token: stopping it takes something away from somebody. */
  readonly isAnswering: boolean;
  /** In rank order. */
  readonly members: readonly Member[];
}

type Verdict = Pick<Mesh, 'state' | 'evidence' | 'unknownReason'>;

/** Judges a placement from the observations of all nodes. Whatever is unknown about a member makes it `unknown`. */
export function judgeMesh(expected: ExpectedMesh, nodes: Readonly<Record<string, NodeObservation>>): Mesh {
  const members = expected.nodes.map((node) =>
    seeMember(node, expected.placement, Object.hasOwn(nodes, node) ? nodes[node]?.facts : undefined),
  );
  const records = recordsOf(expected.placement, nodes);
  return {
    placement: expected.placement,
    ...verdictOn(expected, members),
    generation: Math.max(0, ...records.map(({ generation }) => generation)),
    isAnswering: records.some(({ token }) => token.kind === 'answered'),
    members,
  };
}

/** What any node keeps of a placement, whether it is still a member or not. */
const recordsOf = (placement: string, nodes: Readonly<Record<string, NodeObservation>>): readonly PlacementMember[] =>
  Object.values(nodes).flatMap(({ facts: { placements } }) =>
    placements.kind === 'known' ? placements.value.filter((record) => record.placement === placement) : [],
  );

function verdictOn(expected: ExpectedMesh, members: readonly Member[]): Verdict {
  const ranks: RankOnNode[] = [];
  for (const [rank, { node, seen }] of members.entries()) {
    if (seen.kind === 'unknown') {
      return { state: 'unknown', evidence: `${node}: ${seen.detail}`, unknownReason: seen.reason };
    }
    ranks.push({ node, rank, seen: seen.value });
  }
  const running = ranks.filter(({ seen }) => isRunning(seen));
  if (running.length === 0) return idleVerdict(ranks);
  if (running.length < ranks.length) return { state: 'partial', evidence: missingRanks(ranks) };
  return runningVerdict(expected, ranks);
}

function idleVerdict(ranks: readonly RankOnNode[]): Verdict {
  const states = new Set(ranks.map(({ seen }) => seen.state));
  if (states.has('exited')) return { state: 'dead', evidence: deadEvidence(ranks) };
  if (states.size === 1 && states.has('absent')) return { state: 'absent', evidence: 'no node has it' };
  const isReady = states.size === 1 && states.has('ready');
  return { state: isReady ? 'ready' : 'stopped', evidence: idleEvidence(ranks) };
}

function runningVerdict(expected: ExpectedMesh, ranks: readonly RankOnNode[]): Verdict {
  const unequal = unequalRanks(ranks);
  if (unequal !== undefined) return { state: 'changed', evidence: unequal };
  const leader = ranks[0]?.seen.record;
  if (leader?.digest !== expected.digest) return { state: 'changed', evidence: 'it was started from another file' };
  return tokenVerdict(leader.token, ranks);
}

/** A leader that runs is asked by its own observation; a start in between leaves it unasked, which says nothing. */
function tokenVerdict(token: TokenSight, ranks: readonly RankOnNode[]): Verdict {
  switch (token.kind) {
    case 'answered':
      return { state: 'serving', evidence: 'its endpoint gave a token' };
    case 'silent':
      return { state: 'silent', evidence: silentEvidence(token.reason, ranks) };
    case 'not-asked':
      return { state: 'unknown', evidence: 'nobody asked its endpoint for a token', unknownReason: 'not-asked' };
  }
}
