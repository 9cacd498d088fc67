import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import type { MeshRack } from '../../../rack/placements.ts';
import {
  fleetWithFallback,
  kimi,
  nodes,
  onItsNodes,
  onTheFallback,
  type PlacedCase,
  placedPlan,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';
import { evenShape } from './fit-shapes.ts';

const layers = { count: 60, heads: 12, kvHeads: 12, headDim: 12, attention: { kind: 'gqa' }, dims: {} } as const;
/** If a Mac has a third of the large model, it has no room for the small model. */
const sizes = { tiny: 1_200e9, small: 300e9 };

/**
 * The placement kimi, which should be stopped and has a fallback on studio-4, studio-1 and studio-2, and the small
 * model on one Mac.
 */
function fleetWithOther(other: Partial<DesiredPlacement>, large: Partial<DesiredPlacement> = {}): DesiredFleet {
  const of = fleetWithFallback({
    fallback: { nodes: nodes(4, 1, 2), contextTokens: 2_048 },
    state: 'stopped',
    ...large,
  });
  const { fallback: _, sharding: __, ...rest } = kimi(of);
  return {
    ...of,
    models: of.models.flatMap((model) =>
      Object.entries(sizes).map(([name, bytes]) => ({ ...model, name, shape: evenShape(bytes, layers) })),
    ),
    placements: [kimi(of), { ...rest, name: 'other', model: 'small', state: 'serving', endpointPort: 8_081, ...other }],
  };
}

const of = fleetWithOther({ nodes: nodes(1) });
/** The same file with a hold on studio-3. */
const heldByFile: DesiredFleet = {
  ...of,
  nodes: of.nodes.map((node) => (node.name === 'studio-3' ? { ...node, hold: { reason: 'power supply' } } : node)),
};
const releaseOfFile = 'studio-3 is no longer on hold (remove nodes.studio-3.hold from the cluster file)';
const start: Goal = { kind: 'start', placements: ['other'] };

interface Refused {
  readonly refused: readonly string[];
  readonly started: readonly string[];
  readonly stopped: readonly string[];
}

/** The refusals for lack of memory, and the started and stopped placements. */
function outcomeOf(one: PlacedCase): Refused {
  const plan = placedPlan({ of, ...one });
  const step = (name: string): readonly string[] =>
    plan.steps.flatMap(({ id }) => new RegExp(`/placement/([^/]+)/${name}$`).exec(id)?.slice(1) ?? []);
  return {
    refused: plan.blockers
      .filter(({ code }) => code === 'placement/does-not-fit')
      .map(({ action }) => plainText(action)),
    started: step('kick'),
    stopped: [...new Set(step('stop'))],
  };
}

const ranks = onItsNodes;
/** The rank of kimi on studio-1 has stopped; the other two run. */
const withoutFirst: MeshRack['ranks'] = { ...onItsNodes, 'studio-1': [{ state: 'stopped', rank: 0 }] };

describe('memory next to a placement to be stopped', () => {
  it('is free after the same plan stops the placement', () => {
    expect(outcomeOf({ ranks })).toEqual({ refused: [], started: ['other'], stopped: ['kimi'] });
    const plan = placedPlan({ of, ranks });
    const bootstrap = plan.steps.find(({ id }) => id === 'studio-1/placement/other/bootstrap');
    expect(bootstrap?.needs).toContain('studio-1/placement/kimi/stop');
  });

  const release = 'studio-3 is no longer on hold (meshwright release studio-3)';
  const stop = 'kimi is stopped (meshwright stop kimi)';

  it.each<[string, Partial<PlacedCase>, string]>([
    ['one of its own nodes is on hold', { held: 'studio-3' }, `${release} and ${stop}`],
    ['one of its own nodes is on hold in the file', { of: heldByFile }, `${releaseOfFile} and ${stop}`],
    ['one of its own nodes is not a target', { targets: nodes(1, 2, 4) }, stop],
    ['only the other placement is started', { goal: start }, stop],
    ['only the other placement is started and a node is away', { goal: start, away: ['studio-3'] }, stop],
  ])('is not free while %s, and a hint shows how to make room', (_, more, room) => {
    const { refused, started } = outcomeOf({ ranks, ...more });
    expect(started).toEqual([]);
    expect(refused).toEqual([
      `placement other: studio-1 needs 721.3 GB (kimi 410.6 GB, other 310.6 GB) of the 515.4 GB that its GPU may use. It fits once ${room}, which this plan does not do.`,
    ]);
  });

  it("is free if the plan stops the placement's rank on this node, even if another node is unavailable", () => {
    const plan = placedPlan({ of, ranks, away: ['studio-3'] });
    expect(outcomeOf({ ranks, away: ['studio-3'] })).toEqual({ refused: [], started: ['other'], stopped: ['kimi'] });
    const bootstrap = plan.steps.find(({ id }) => id === 'studio-1/placement/other/bootstrap');
    expect(bootstrap?.needs).toContain('studio-1/placement/kimi/stop');
    expect(plan.memory?.map(({ node, shares }) => [node, shares.map((one) => one.placement)])).toEqual([
      ['studio-1', ['other']],
      ['studio-3', ['kimi']],
    ]);
  });

  it("is not free on a former node until the placement's rank there is stopped", () => {
    const moved = fleetWithOther(
      { nodes: nodes(1) },
      { nodes: nodes(2, 3, 4), fallback: { nodes: nodes(4, 2), contextTokens: 2_048 } },
    );
    const left = { of: moved, ranks: { 'studio-1': onItsNodes['studio-1'] ?? [] } };
    const { refused, started } = outcomeOf({ ...left, goal: start });
    expect(started).toEqual([]);
    expect(refused).toEqual([
      expect.stringMatching(/studio-1 needs 721\.3 GB \(kimi 410\.6 GB, other 310\.6 GB\).*once kimi is stopped/),
    ]);
    expect(outcomeOf(left)).toEqual({ refused: [], started: ['other'], stopped: ['kimi'] });
    expect(outcomeOf({ ...left, away: ['studio-3'] }).started).toEqual(['other']);
  });

  it("appears in the plan's memory figures", () => {
    const placementsOn = (more: Partial<PlacedCase>) =>
      placedPlan({ of, ranks, ...more }).memory?.map(({ node, shares }) => [node, shares.map((one) => one.placement)]);
    expect(placementsOn({})).toEqual([['studio-1', ['other']]]);
    expect(placementsOn({ held: 'studio-3' })).toEqual([
      ['studio-1', ['kimi', 'other']],
      ['studio-2', ['kimi']],
      ['studio-3', ['kimi']],
    ]);
  });

  it('is free on a node whose rank has stopped, whatever happens to the other ranks', () => {
    const more = [{ held: 'studio-3' }, { away: ['studio-3'] }, { goal: start }];
    expect(more.map((one) => outcomeOf({ ranks: withoutFirst, ...one }).started)).toEqual(more.map(() => ['other']));
  });

  it("is free if all of the placement's ranks are stopped or absent", () => {
    const stopped: MeshRack['ranks'] = Object.fromEntries(
      Object.entries(onItsNodes).map(([node, ranks]) => [
        node,
        ranks.map((one) => ({ ...one, state: 'stopped' as const })),
      ]),
    );
    for (const there of [stopped, {}]) {
      expect(outcomeOf({ ranks: there, held: 'studio-3' }).started).toEqual(['other']);
    }
  });

  it('is not free while the placement stays on its fallback', () => {
    const there = fleetWithOther({ nodes: nodes(4) });
    const moved = onTheFallback(there);
    expect(outcomeOf({ of: there, ranks: moved })).toEqual({ refused: [], started: ['other'], stopped: ['kimi'] });
    const { refused, started } = outcomeOf({ of: there, ranks: moved, held: 'studio-2' });
    expect(started).toEqual([]);
    expect(refused).toEqual([expect.stringContaining('studio-4 needs 721.3 GB (kimi 410.6 GB, other 310.6 GB)')]);
  });
});

onOnePage('stopping-memory');
