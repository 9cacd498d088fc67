import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import type { MeshRack } from '../../../rack/placements.ts';
import {
  changesOf,
  fleetWithFallback,
  nodes,
  ofPlacement,
  onItsNodes,
  onTheFallback,
  type PlacedCase,
  placedPlan,
  published as publishedFleet,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

/** `kimi` with its fallback on these nodes. */
const fleetWith = (there: readonly number[], placement: Parameters<typeof fleetWithFallback>[0] = {}): DesiredFleet =>
  fleetWithFallback({ fallback: { nodes: nodes(...there), contextTokens: 2_048 }, ...placement });

const waitsFor = ({ waiting }: Plan): readonly string[] =>
  waiting.filter(({ resource }) => resource === 'placement/kimi').flatMap((one) => one.for.map(({ text }) => text));

describe('a move back from a fallback', () => {
  it.each([[[4]], [[4, 1]]])('stops and starts nothing while the fallback on %s is not among the targets', (there) => {
    const of = fleetWith(there);
    const limited = placedPlan({ of, ranks: onTheFallback(of), targets: nodes(1, 2, 3) });
    expect([ofPlacement(limited), changesOf(limited)]).toEqual([[], []]);
    expect(waitsFor(limited)).toEqual(['studio-4 is not among the targets']);
    const whole = placedPlan({ of, ranks: onTheFallback(of), targets: nodes(1, 2, 3, 4) });
    expect(ofPlacement(whole)).toEqual(expect.arrayContaining(['studio-4 stop', 'studio-3 kick']));
  });

  it('does not wait for an unreachable fallback node if a different one can be stopped', () => {
    const plan = placedPlan({ ranks: onTheFallback(fleetWithFallback()), away: ['studio-4'] });
    expect(ofPlacement(plan)).toEqual(expect.arrayContaining(['studio-1 stop', 'studio-3 kick']));
  });
});

describe('the gateways of a moving placement', () => {
  const published = (...there: readonly number[]): DesiredFleet =>
    publishedFleet({ fallback: { nodes: nodes(...there), contextTokens: 2_048 } });
  const startThere: Goal = { kind: 'start', placements: ['kimi'], layout: 'fallback' };
  /** The nodes whose gateways are closed. Every stop must wait until all of them are closed and drained. */
  function closedBy(one: PlacedCase): readonly string[] {
    const { steps } = placedPlan(one);
    const closing = steps.filter(({ id }) => /\/(?:close-endpoint|drain)$/.test(id)).map(({ id }) => id);
    const stops = steps.filter(({ id }) => id.endsWith('/placement/kimi/stop'));
    expect(stops.length).toBeGreaterThan(0);
    for (const { needs } of stops) expect(needs).toEqual(expect.arrayContaining(closing));
    return closing.filter((id) => id.endsWith('/close-endpoint')).map((id) => id.split('/')[0] ?? '');
  }

  it('close on the leaders of both layouts, even on a node that both use', () => {
    const within = published(2, 3);
    expect(closedBy({ of: within, ranks: onTheFallback(within) })).toEqual(['studio-1', 'studio-2']);
    const beside = published(4, 1);
    expect(closedBy({ of: beside, ranks: onItsNodes, goal: startThere })).toEqual(['studio-1', 'studio-4']);
    const turned = published(2, 1, 3);
    expect(closedBy({ of: turned, ranks: onTheFallback(turned) })).toEqual(['studio-1', 'studio-2']);
  });

  it('close once if both layouts have the same leader', () => {
    const of = published(1, 2);
    expect(closedBy({ of, ranks: onTheFallback(of) })).toEqual(['studio-1']);
  });
});

describe('a placement that shares its first ranks with its fallback, after an edit to the file', () => {
  const old = fleetWith([1, 2, 4]);
  const edited = fleetWith([1, 2, 4], { env: { LOG: '1' } });
  const there = 'on its fallback: studio-1, studio-2, studio-4, context 2k';

  it('is recognized on its fallback by a rank that only the fallback has, even an exited one', () => {
    const changed = changesOf(placedPlan({ of: edited, ranks: onTheFallback(old) }));
    const back = 'serving on its own nodes: studio-1, studio-2, studio-3, context 4k';
    expect(changed).toEqual([['studio-1', there, back]]);
    const [last] = onTheFallback(old, 'exited')['studio-4'] ?? [];
    const broken: MeshRack['ranks'] = { ...onTheFallback(old), 'studio-4': last === undefined ? [] : [last] };
    expect(changesOf(placedPlan({ of: edited, ranks: broken }))).toEqual(changed);
  });

  it('is not stopped while one of its own nodes is unavailable', () => {
    const plan = placedPlan({ of: edited, ranks: onTheFallback(old), away: ['studio-3'] });
    expect([ofPlacement(plan), plan.effects]).toEqual([[], []]);
  });

  it("is stopped on all of its fallback's nodes", () => {
    const goal: Goal = { kind: 'stop', placements: ['kimi'] };
    const stops = ofPlacement(placedPlan({ of: edited, ranks: onTheFallback(old), goal })).filter((id) =>
      id.endsWith(' stop'),
    );
    expect(stops).toEqual(['studio-1 stop', 'studio-2 stop', 'studio-4 stop']);
  });

  it('is recognized on its own nodes by a rank that only they have', () => {
    const digest = 'of old';
    const ranks: MeshRack['ranks'] = Object.fromEntries(
      nodes(1, 2, 3).map((node, rank) => [node, [{ state: 'joined', rank, digest }]]),
    );
    const from = 'running with old settings: which ones is unknown, because its record does not store settings';
    expect(changesOf(placedPlan({ of: edited, ranks }))).toEqual([['studio-1', from, 'serving']]);
  });
});

onOnePage('fallback-moves');
