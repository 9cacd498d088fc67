import { describe, expect, it } from 'vitest';
import { onFallback } from '../../../../src/desired/layouts.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { placementFindings } from '../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../src/rack/placement/check/placement-survey.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import {
  changesOf,
  digestIn,
  fallback,
  fleetWithFallback,
  kimi,
  nodes,
  ofPlacement,
  onItsNodes,
  onTheFallback,
  type PlacedCase,
  placedPlan,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';
import { evenShape } from './fit-shapes.ts';

const there = onTheFallback(fleetWithFallback());
const codes = ({ diagnostics }: Plan): readonly string[] => diagnostics.map(({ code }) => code);
const startThere: Goal = { kind: 'start', placements: ['kimi'], layout: 'fallback' };

describe('a placement on its fallback', () => {
  it('matches a file that declares the same nodes and context', () => {
    const of = fleetWithFallback();
    const moved = meshFleet({ placement: fallback });
    expect(digestIn(of, onFallback(kimi(of)))).toBe(
      digestIn(moved, kimi({ ...moved, placements: [{ ...kimi(moved), ...fallback }] })),
    );
  });

  it('keeps the digest of its own layout when the file adds the fallback', () => {
    expect(digestIn(fleetWithFallback(), kimi(fleetWithFallback()))).toBe(digestIn(meshFleet(), kimi(meshFleet())));
  });

  it('is moved back by apply, as an interruption', () => {
    const plan = placedPlan({ ranks: onTheFallback(fleetWithFallback()) });
    const there = 'on its fallback: studio-4, studio-1, context 2k';
    const back = 'serving on its own nodes: studio-1, studio-2, studio-3, context 4k';
    expect(changesOf(plan)).toEqual([['studio-1', there, back]]);
    expect(ofPlacement(plan)).toEqual(
      expect.arrayContaining(['studio-4 stop', 'studio-1 stop', 'studio-4 remove', 'studio-3 kick']),
    );
    expect(plan.effects.filter(({ kind }) => kind === 'interrupt')).toHaveLength(1);
    expect(codes(plan)).toContain('mesh/on-fallback');
  });

  it.each<[string, Partial<PlacedCase>]>([
    ['one of its own nodes is away', { away: ['studio-3'] }],
    ['one of its own nodes is on hold', { held: 'studio-3' }],
  ])('waits unchanged while %s', (_, one) => {
    const plan = placedPlan({ ranks: onTheFallback(fleetWithFallback()), ...one });
    expect([ofPlacement(plan), changesOf(plan)]).toEqual([[], []]);
    expect(plan.waiting.filter(({ resource }) => resource === 'placement/kimi')).toHaveLength(1);
    expect(codes(plan)).toContain('mesh/on-fallback');
  });

  it('is stopped where it runs, even if one of its own nodes is unavailable', () => {
    const plan = placedPlan({ ranks: there, away: ['studio-3'], goal: { kind: 'stop', placements: ['kimi'] } });
    expect(ofPlacement(plan).filter((id) => id.endsWith(' stop'))).toEqual(['studio-4 stop', 'studio-1 stop']);
  });

  it('is started where it last ran, unless the start command names a layout', () => {
    const ranks = onTheFallback(fleetWithFallback(), 'stopped');
    const [last, there, home] = ([{}, { layout: 'fallback' }, { layout: 'own' }] as const).map((wish) =>
      placedPlan({ ranks, goal: { kind: 'start', placements: ['kimi'], ...wish } }),
    );
    const kicked = (plan: Plan | undefined) => plan && ofPlacement(plan).filter((id) => id.endsWith(' kick'));
    expect([kicked(last), kicked(there), kicked(home)]).toEqual([
      ['studio-4 kick', 'studio-1 kick'],
      ['studio-4 kick', 'studio-1 kick'],
      ['studio-1 kick', 'studio-2 kick', 'studio-3 kick'],
    ]);
  });

  it('is not moved by a start on its own nodes', () => {
    const goal: Goal = { kind: 'start', placements: ['kimi'], layout: 'own' };
    expect(ofPlacement(placedPlan({ ranks: onTheFallback(fleetWithFallback()), goal }))).toEqual([]);
  });
});

describe('the status of a placement with a fallback', () => {
  it('reports no orphaned ranks for a running or stopped fallback', () => {
    const stopped = fleetWithFallback({ state: 'stopped' });
    const cases = [
      { of: fleetWithFallback(), ranks: onTheFallback(fleetWithFallback()) },
      { of: stopped, ranks: onTheFallback(stopped, 'stopped') },
    ];
    const found = cases.map(({ of, ranks }) => {
      const observation = observeMesh(of, { ranks });
      const view = viewOf({ desired: of, observation, targets: of.nodes.map(({ name }) => name) });
      const surveys = surveyPlacements(view);
      const codesOf = placementFindings(view, surveys).map(({ code }) => code);
      return [surveys[0]?.state, surveys[0]?.standing, codesOf];
    });
    const { of, ranks } = cases[1] ?? { of: fleetWithFallback(), ranks: {} };
    expect(ofPlacement(placedPlan({ of, ranks }))).toEqual([]);
    expect(found).toEqual([
      ['serving', 'differs', ['mesh/on-fallback']],
      ['stopped', 'met', []],
    ]);
  });
});

describe('a goal for a fallback node', () => {
  const near = nodes(4);

  it('affects the placement only if it runs there', () => {
    const stop: Goal = { kind: 'stop', placements: ['kimi'], near };
    const elsewhere = placedPlan({ ranks: onItsNodes, goal: stop });
    const there = placedPlan({ ranks: onTheFallback(fleetWithFallback()), goal: stop });
    expect([ofPlacement(elsewhere), ofPlacement(there).includes('studio-4 stop')]).toEqual([[], true]);
    expect(ofPlacement(placedPlan({ ranks: {}, goal: { kind: 'start', placements: ['kimi'], near } }))).toEqual([]);
  });

  it('stops the placement before a restart of its Mac, but only if it runs there', () => {
    const goal: Goal = { kind: 'reboot', nodes: near };
    expect(ofPlacement(placedPlan({ ranks: onTheFallback(fleetWithFallback()), goal }))).toContain('studio-4 stop');
    expect(ofPlacement(placedPlan({ ranks: onItsNodes, goal }))).toEqual([]);
  });
});

describe('a start on the fallback', () => {
  it('stops the running layout first, even if a node of that layout is unavailable', () => {
    const plan = placedPlan({ ranks: onItsNodes, away: ['studio-2'], goal: startThere });
    const steps = ofPlacement(plan);
    expect(steps.filter((id) => / (?:stop|kick)$/.test(id))).toEqual([
      'studio-1 stop',
      'studio-3 stop',
      'studio-4 kick',
      'studio-1 kick',
    ]);
    const again = placedPlan({ ranks: onTheFallback(fleetWithFallback()), away: ['studio-2'], goal: startThere });
    expect([ofPlacement(again), again.waiting]).toEqual([[], []]);
  });

  it('describes running ranks by their layout if their settings are current', () => {
    const inside = fleetWithFallback({ fallback: { ...fallback, nodes: nodes(1, 2) } });
    const there = 'serving on its fallback: studio-1, studio-2, context 2k';
    const fromOf = (one: Partial<PlacedCase>): unknown =>
      changesOf(placedPlan({ of: inside, ranks: onItsNodes, goal: startThere, ...one }));
    expect(fromOf({})).toEqual([['studio-1', 'on its own nodes: studio-1, studio-2, studio-3, context 4k', there]]);
    const partly = 'on its own nodes: ranks on studio-1, studio-2';
    expect(fromOf({ away: ['studio-3'] })).toEqual([['studio-1', partly, there]]);
    const old: MeshRack['ranks'] = {
      'studio-1': [{ state: 'joined', rank: 0, digest: 'of old', changes: { size: 2 } }],
      'studio-2': [{ state: 'joined', rank: 1, digest: 'of old', changes: { size: 2 } }],
    };
    const oldSettings = expect.stringContaining('running with old settings');
    expect(fromOf({ ranks: old })).toEqual([['studio-1', oldSettings, there]]);
  });

  it("leaves a placement's own node on hold unchanged, and is refused if a fallback node is on hold", () => {
    const beside = placedPlan({ ranks: onItsNodes, held: 'studio-3', goal: startThere });
    expect(ofPlacement(beside).filter((id) => id.startsWith('studio-3'))).toEqual([]);
    expect(ofPlacement(beside)).toContain('studio-4 kick');
    const amid = placedPlan({ ranks: onItsNodes, held: 'studio-4', goal: startThere });
    expect([ofPlacement(amid), amid.blockers.map(({ code }) => code)]).toEqual([[], ['hold/held']]);
  });

  it("is offered only while one of the placement's own nodes outside the fallback is unavailable", () => {
    const offered = placedPlan({ ranks: onItsNodes, away: ['studio-2'] });
    const hint = offered.diagnostics.find(({ code }) => code === 'mesh/fallback-there')?.hint;
    expect(plainText(hint ?? '')).toContain('meshwright start kimi --fallback');
    expect(codes(placedPlan({ ranks: onItsNodes, away: ['studio-1'] }))).not.toContain('mesh/fallback-there');
    expect(codes(placedPlan({ ranks: onItsNodes }))).not.toContain('mesh/fallback-there');
  });

  it.each([
    ['is offered if all ranks exited', 'exited', undefined, true],
    ['is offered if its last start failed and its ranks were stopped', 'stopped', 'failed', true],
    ['is not offered if its ranks were stopped while it served', 'stopped', 'served', false],
    ['is not offered if its ranks were stopped and no start is recorded', 'stopped', undefined, false],
  ] as const)('%s', (_, state, outcome, isOffered) => {
    const ranks = Object.entries(threeRanks([state, state, state])).map(([node, all]) => [
      node,
      outcome === undefined ? all : all.map((one) => ({ ...one, changes: { outcome, startedIn: `BOOT-${node}` } })),
    ]);
    const plan = placedPlan({ ranks: Object.fromEntries(ranks) });
    expect(codes(plan).includes('mesh/fallback-there')).toBe(isOffered);
  });
});

describe('the fit of a fallback', () => {
  const layers = { count: 60, heads: 12, kvHeads: 12, headDim: 12, attention: { kind: 'gqa' }, dims: {} } as const;
  const large = (of: DesiredFleet): DesiredFleet => ({
    ...of,
    models: of.models.map((model) => ({ ...model, shape: evenShape(1_200e9, layers) })),
  });
  const blockersOf = (of: DesiredFleet, ranks: MeshRack['ranks'] = {}) =>
    placedPlan({ of, ranks }).blockers.map(({ code, action }) => [code, action]);

  it("is checked instead of the fit on the placement's own nodes, and a refusal names the fallback", () => {
    const there = 'placement kimi: On its fallback (studio-4, studio-1, context 2k): studio-1,4 each need 610.';
    const expected = [['placement/does-not-fit', expect.stringContaining(there)]];
    expect(blockersOf(large(fleetWithFallback()))).toEqual(expected);
    expect(blockersOf(large(fleetWithFallback()), onItsNodes)).toEqual(expected);
    expect(ofPlacement(placedPlan({ of: large(fleetWithFallback()), ranks: {} }))).toEqual([]);
    expect(blockersOf(large(fleetWithFallback({ fallback: { ...fallback, nodes: nodes(4, 1, 2) } })))).toEqual([]);
  });

  it('does not prevent a move back from it', () => {
    expect(blockersOf(large(fleetWithFallback()), onTheFallback(large(fleetWithFallback())))).toEqual([]);
  });

  it('includes other placements on its nodes', () => {
    const of = large(fleetWithFallback({ fallback: { ...fallback, nodes: nodes(4, 1, 2) } }));
    const other: DesiredPlacement = { ...kimi(meshFleet()), name: 'other', nodes: nodes(4), endpointPort: 8_081 };
    const { sharding: _, ...alone } = { ...other, model: 'small' };
    const small = of.models.map((model) => ({ ...model, name: 'small', shape: evenShape(300e9, layers) }));
    const both = { ...of, models: [...of.models, ...small], placements: [...of.placements, alone] };
    expect(blockersOf(both)).toEqual([
      ['placement/does-not-fit', expect.stringContaining('On its fallback (studio-4, studio-1, studio-2, context 2k)')],
    ]);
  });
});

onOnePage('fallback');
