import { onFallback } from '../../../src/desired/fallback.ts';
import { configurePlacement } from '../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../src/drivers/contract/seen-names.ts';
import type { Goal } from '../../../src/engine/goals/goal.ts';
import type { FactValues } from '../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../src/model/desired.ts';
import { shortDigest } from '../../../src/model/digest.ts';
import type { KeptTree } from '../../../src/model/facts/fact-values.ts';
import type { NodeHold } from '../../../src/model/facts/node-records.ts';
import { type NodeName, nodeName } from '../../../src/model/node.ts';
import { type MemberCase, type MeshRack, meshFleet, observeMesh } from '../mesh/rack-with-mesh.ts';
import { settledFacts } from '../resources/settled-rack.ts';
import { makePlan } from './made-plan.ts';

/** `studio-4`, `studio-1` for 4, 1. */
export const nodes = (...numbers: readonly number[]) => numbers.map((number) => nodeName(`studio-${number}`));
/** Of studio-4 and studio-1. */
export const fallback = { nodes: nodes(4, 1), contextTokens: 2_048 };

/** {@link meshFleet} in which `kimi` has a fallback. */
export const fleet = (placement: Partial<DesiredPlacement> = {}): DesiredFleet =>
  meshFleet({ placement: { fallback, ...placement } });

/** The first placement of a fleet. */
export function kimi({ placements }: DesiredFleet): DesiredPlacement {
  const [one] = placements;
  if (one === undefined) throw new Error('the fleet has a placement');
  return one;
}

/** The digest of a placement in a fleet. */
export function digestIn(of: DesiredFleet, placement: DesiredPlacement): string {
  const { digest } = configurePlacement(placement, of, 0, lastingNames);
  return digest ?? '';
}

/** Ranks of the fallback, of the fifth start, in front of what is left of the fourth. */
export function onTheFallback(of: DesiredFleet, state: MemberCase['state'] = 'joined'): MeshRack['members'] {
  const there = onFallback(kimi(of));
  const { length: size } = there.nodes;
  const all = { state, generation: 5, digest: digestIn(of, there), changes: { size } } as const;
  return Object.fromEntries(there.nodes.map((node, rank) => [node, [{ ...all, rank }]]));
}

/** All ranks of `kimi` on its own nodes. */
export const own: MeshRack['members'] = {
  'studio-1': [{ state: 'joined', rank: 0 }],
  'studio-2': [{ state: 'joined', rank: 1 }],
  'studio-3': [{ state: 'joined', rank: 2 }],
};

/** What a plan is made for. */
export interface Case {
  readonly of?: DesiredFleet;
  readonly members: MeshRack['members'];
  readonly goal?: Goal;
  readonly away?: readonly string[];
  readonly held?: string;
  /** Absent: every node. */
  readonly targets?: readonly NodeName[];
  /** What a node shows besides. */
  readonly shown?: Readonly<Record<string, Partial<FactValues>>>;
}

const hold: NodeHold = { reason: 'power supply', by: 'ana@laptop', since: '2026-11-21', isOver: false };

/** A plan for Macs on which all but the placement is as the file says. */
export function planOf({ of = fleet(), members, goal = { kind: 'converge' }, away = [], held, ...rest }: Case): Plan {
  const { targets = of.nodes.map(({ name }) => name), shown = {} } = rest;
  const trees = [...of.runtimes, ...of.models].map(
    ({ name, digest }, at): KeptTree => ({
      kind: at === 0 ? 'runtime' : 'model',
      name,
      digest: digest === undefined ? '' : shortDigest(digest),
      state: 'intact',
      isCurrent: true,
    }),
  );
  const values = of.nodes.map(({ name }) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, trees, hold: name === held ? [hold] : [], ...shown[name] }];
  });
  const observation = observeMesh(of, { members, values: Object.fromEntries(values), unreachable: away });
  return makePlan({ goal, desired: of, observation, targets });
}

/** Its steps about `kimi`, but for service files. */
export const ofPlacement = ({ steps }: Plan): readonly string[] =>
  steps
    .filter(({ id }) => id.includes('/placement/kimi/') && !id.endsWith('/put-service'))
    .map(({ id }) => id.replace('/placement/kimi/', ' '));
/** Its changes of `kimi`: where, from, to. */
export const changesOf = ({ changes }: Plan) =>
  changes.filter(({ resource }) => resource === 'placement/kimi').map(({ node, from, to }) => [node, from, to]);
