import { describe, expect, it } from 'vitest';
import { onFallback } from '../../../../src/desired/layouts.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { surveyPlacements } from '../../../../src/rack/placement/check/placement-survey.ts';
import { type MeshRack, observeMesh, type RankCase } from '../../../rack/placements.ts';
import {
  changesOf,
  digestIn,
  fleetWithFallback,
  kimi,
  nodes,
  ofPlacement,
  onItsNodes,
  type PlacedCase,
  placedPlan,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

describe('a placement with an unobserved fallback', () => {
  const apart = (changes: Partial<DesiredPlacement> = {}): DesiredFleet =>
    fleetWithFallback({ fallback: { nodes: nodes(4), contextTokens: 2_048 }, ...changes });
  const stopped: MeshRack['ranks'] = {
    'studio-1': [{ state: 'stopped', rank: 0 }],
    'studio-2': [{ state: 'stopped', rank: 1 }],
    'studio-3': [{ state: 'ready', rank: 2 }],
  };

  it.each<[string, Partial<PlacedCase>]>([
    ['apply', {}],
    ['a start', { goal: { kind: 'start', placements: ['kimi'], layout: 'own' } }],
    ['apply without records of its ranks', { ranks: {} }],
  ])('waits and is not started on its own nodes in %s', (_, one) => {
    const plan = placedPlan({ of: apart(), ranks: stopped, away: ['studio-4'], ...one });
    expect([ofPlacement(plan), changesOf(plan)]).toEqual([[], []]);
    expect(plan.waiting).toContainEqual(expect.objectContaining({ resource: 'placement/kimi', isUnknown: true }));
  });

  it('waits after a stop, and is stopped where its ranks run', () => {
    const away = ['studio-4'];
    const goal: Goal = { kind: 'stop', placements: ['kimi'] };
    const [idle, some] = [stopped, { ...onItsNodes, 'studio-3': [] }].map((ranks) =>
      placedPlan({ of: apart(), ranks, away, goal }),
    );
    expect(idle?.waiting.map(({ resource }) => resource)).toContain('placement/kimi');
    expect(some && ofPlacement(some)).toContain('studio-1 stop');
  });

  it('is restarted on its own nodes if it was not stopped or part of its fallback is observed', () => {
    const broken = { ...onItsNodes, 'studio-2': [{ state: 'exited', rank: 1 } as const] };
    const [partly, seen] = [
      placedPlan({ of: apart(), ranks: broken, away: ['studio-4'] }),
      placedPlan({ ranks: stopped, away: ['studio-4'] }),
    ];
    expect([ofPlacement(partly), ofPlacement(seen)]).toEqual([
      expect.arrayContaining(['studio-2 kick']),
      expect.arrayContaining(['studio-1 kick']),
    ]);
  });
});

describe('a placement with ranks in both layouts', () => {
  const alone = { nodes: nodes(4), contextTokens: 2_048 };
  const of = fleetWithFallback({ fallback: alone });
  const silent = { kind: 'silent', reason: 'status 503' } as const;
  const layoutOf = (there: Partial<RankCase>, here: Partial<RankCase> = {}): string | undefined => {
    const digest = digestIn(of, onFallback(kimi(of)));
    const ranks: MeshRack['ranks'] = {
      'studio-1': [{ state: 'joined', rank: 0, ...here }],
      'studio-2': [{ state: 'joined', rank: 1 }],
      'studio-3': [{ state: 'joined', rank: 2 }],
      'studio-4': [{ state: 'joined', rank: 0, digest, changes: { size: 1 }, ...there }],
    };
    const view = viewOf({
      desired: of,
      observation: observeMesh(of, { ranks }),
      targets: of.nodes.map((one) => one.name),
    });
    return surveyPlacements(view)[0]?.nodes.join(', ');
  };

  it('counts as running where it answers, or else where it was last started', () => {
    const home = nodes(1, 2, 3).join(', ');
    expect(layoutOf({ generation: 1 }, { token: silent })).toBe('studio-4');
    expect(layoutOf({ generation: 4, token: silent })).toBe(home);
    expect(layoutOf({ generation: 5, token: silent })).toBe(home);
    expect(layoutOf({ generation: 5 })).toBe('studio-4');
    expect(layoutOf({ generation: 3 })).toBe(home);
    expect(layoutOf({ generation: 4 })).toBe(home);
  });
});

onOnePage('fallback-unobserved');
