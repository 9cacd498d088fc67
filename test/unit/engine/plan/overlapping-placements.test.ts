import { describe, expect, it } from 'vitest';
import { configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { meshFleet, observeMesh, type RankCase } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** `kimi` on studio-1 to 3, `pair` on studio-3 and 4: both need studio-3. */
function twoPlacements(): DesiredFleet {
  const fleet = meshFleet();
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the rack has no placement');
  const nodes = ['studio-3', 'studio-4'].map(nodeName);
  return { ...fleet, placements: [kimi, { ...kimi, name: 'pair', nodes, endpointPort: 8_081 }] };
}

const fleet = twoPlacements();

function digestOfPlacement(name: string): string {
  const placement = fleet.placements.find((one) => one.name === name);
  const made = placement === undefined ? undefined : configurePlacement(placement, fleet, 0, lastingNames);
  return made?.kind === 'configured' ? made.digest : '';
}

const trees = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
] as const;

const rankCase = (placement: string, rank: number, generation: number, more: Partial<RankCase> = {}): RankCase => ({
  placement,
  rank,
  generation,
  state: 'joined',
  digest: digestOfPlacement(placement),
  changes: placement === 'pair' ? { endpointPort: 8_081, size: 2 } : {},
  ...more,
});

/** Both placements serve; kimi is in its seventh start, pair in its second. */
const serving: Readonly<Record<string, readonly RankCase[]>> = {
  'studio-1': [rankCase('kimi', 0, 7)],
  'studio-2': [rankCase('kimi', 1, 7)],
  'studio-3': [rankCase('kimi', 2, 7), rankCase('pair', 0, 2)],
  'studio-4': [rankCase('pair', 1, 2)],
};

function plan(ranks: typeof serving, unreachable: readonly string[] = []): Plan {
  const values = four.map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, trees }];
  });
  const rack = { ranks, values: Object.fromEntries(values), unreachable };
  return makePlan({
    goal: { kind: 'converge' },
    desired: fleet,
    observation: observeMesh(fleet, rack),
    targets: four.map(nodeName),
  });
}

/** The placements that a plan's steps start or stop. */
const touched = (steps: readonly Step[]): readonly string[] => [
  ...new Set(
    steps.flatMap(({ act }) =>
      act.kind === 'script' && (act.name === 'stop-rank' || act.name === 'kick-rank') ? [act.args.placement] : [],
    ),
  ),
];

/** The generation and port of a placement's next start. */
const nextStart = (steps: readonly Step[], name: string): readonly unknown[] =>
  steps.flatMap(({ act }) =>
    act.kind === 'script' && act.name === 'bootstrap-rank' && act.args.record.placement === name
      ? [[act.args.record.generation, act.args.record.port, act.args.record.endpointPort]]
      : [],
  );

describe('placements on the same node', () => {
  it('are restarted only if they have a dead rank', () => {
    const made = plan({ ...serving, 'studio-2': [rankCase('kimi', 1, 7, { state: 'exited' })] });
    expect(touched(made.steps)).toEqual(['kimi']);
    expect(touched(plan(serving).steps)).toEqual([]);
  });

  it('are restarted even while another placement has lost a node', () => {
    const made = plan({ ...serving, 'studio-4': [rankCase('pair', 1, 2, { state: 'exited' })] }, ['studio-1']);
    expect(touched(made.steps)).toEqual(['pair']);
  });

  it('have separate generations and ports', () => {
    const dead = Object.fromEntries(
      Object.entries(serving).map(([node, ranks]) => [
        node,
        ranks.map((one): RankCase => ({ ...one, state: 'exited' })),
      ]),
    );
    const { steps } = plan(dead);
    const [kimi, pair] = ['kimi', 'pair'].map((name) => nextStart(steps, name));
    expect(kimi?.map((start) => (start as readonly number[])[0])).toEqual([8, 8, 8]);
    expect(pair?.map((start) => (start as readonly number[])[0])).toEqual([3, 3]);
    const ports = [...(kimi ?? []), ...(pair ?? [])].map((start) => (start as readonly number[]).slice(1).join(' '));
    expect(new Set(ports).size).toBe(2);
  });
});

onOnePage('overlapping-placements');
