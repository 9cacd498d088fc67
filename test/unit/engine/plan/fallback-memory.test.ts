import { describe, expect, it } from 'vitest';
import { onFallback } from '../../../../src/desired/layouts.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import type { RankCase } from '../../../rack/placements.ts';
import {
  digestIn,
  fleetWithFallback,
  kimi,
  nodes,
  ofPlacement,
  onTheFallback,
  type PlacedCase,
  placedPlan,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';
import { evenShape } from './fit-shapes.ts';

const layers = { count: 60, heads: 12, kvHeads: 12, headDim: 12, attention: { kind: 'gqa' }, dims: {} } as const;
/** If a Mac has a third of the large model, it has no room for the small model. */
const sizes = { tiny: 1_200e9, small: 300e9 };

/** The placement kimi, whose fallback is on studio-4, studio-1 and studio-2, and others with the small model. */
function fleetWithOthers(...others: readonly Partial<DesiredPlacement>[]): DesiredFleet {
  const of = fleetWithFallback({ fallback: { nodes: nodes(4, 1, 2), contextTokens: 2_048 } });
  const { fallback: _, sharding: __, ...rest } = kimi(of);
  return {
    ...of,
    models: of.models.flatMap((model) =>
      Object.entries(sizes).map(([name, bytes]) => ({ ...model, name, shape: evenShape(bytes, layers) })),
    ),
    placements: [kimi(of), ...others.map((one) => ({ ...rest, model: 'small', endpointPort: 8_081, ...one }))],
  };
}

const other = { name: 'other', nodes: nodes(4) };
const needsReboot: Partial<FactValues> = { 'reboot-mark': [{ placement: 'kimi', why: 'kernel' }] };

/** The placements that are refused for lack of memory, and those that are started. */
function outcomeOf(plan: Plan) {
  const refused = plan.blockers.filter(({ code }) => code === 'placement/does-not-fit');
  const started = plan.steps.flatMap(({ id }) => /\/placement\/([^/]+)\/kick$/.exec(id)?.slice(1) ?? []);
  return {
    refused: refused.map(({ action }) => /^placement ([^:]+):/.exec(plainText(action))?.[1]),
    started: [...new Set(started)].toSorted(),
  };
}

describe('memory next to a running fallback', () => {
  const of = fleetWithOthers(other);
  const ranks = onTheFallback(of);

  it('is free for another placement if the same plan moves the fallback back', () => {
    const plan = placedPlan({ of, ranks });
    expect(outcomeOf(plan)).toEqual({ refused: [], started: ['kimi', 'other'] });
    const kick = plan.steps.find(({ id }) => id === 'studio-4/placement/other/bootstrap');
    expect(kick?.needs).toContain('studio-4/placement/kimi/stop');
  });

  it.each<[string, Partial<PlacedCase>]>([
    ['one of its own nodes is away', { away: ['studio-3'] }],
    ['one of its own nodes is on hold', { held: 'studio-3' }],
    ['one of its own nodes needs a restart', { shown: { 'studio-3': needsReboot } }],
    ['one of its own nodes is not a target', { targets: nodes(1, 2, 4) }],
  ])('is not free while %s', (_, one) => {
    const plan = placedPlan({ of, ranks, ...one });
    expect(ofPlacement(plan)).toEqual([]);
    expect(outcomeOf(plan)).toEqual({ refused: ['other'], started: [] });
    const [refused] = plan.blockers.filter(({ code }) => code === 'placement/does-not-fit');
    const release = 'held' in one ? 'studio-3 is no longer on hold (meshwright release studio-3) and ' : '';
    const room = `${release}kimi is back on its own nodes (meshwright apply)`;
    expect(plainText(refused?.action ?? '')).toContain(`It fits once ${room}, which this plan`);
  });

  it('is not free for another placement that would move back', () => {
    const two = fleetWithOthers({ ...other, fallback: { nodes: nodes(3), contextTokens: 2_048 } });
    const moved = two.placements.map(onFallback).find(({ name }) => name === 'other') ?? kimi(two);
    const digest = digestIn(two, moved);
    const rank: RankCase = { placement: 'other', state: 'joined', generation: 5, digest, changes: { size: 1 } };
    const both = { ...onTheFallback(two), 'studio-3': [rank] };
    const free = outcomeOf(placedPlan({ of: two, ranks: both }));
    expect(free).toEqual({ refused: [], started: ['kimi', 'other'] });
    const stuck = outcomeOf(placedPlan({ of: two, ranks: both, shown: { 'studio-2': needsReboot } }));
    expect(stuck.started).toEqual([]);
    expect(stuck.refused).toContain('other');
  });
});

onOnePage('fallback-memory');
