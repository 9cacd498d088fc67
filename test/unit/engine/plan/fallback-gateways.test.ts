import { describe, expect, it } from 'vitest';
import type { Goal } from '../../../../src/rack/goal.ts';
import type { MeshRack, RankCase } from '../../../rack/placements.ts';
import {
  digestIn,
  gatewayChanges,
  gatewayPlan,
  gatewaySteps,
  kimi,
  nodes,
  ofPlacement,
  onItsNodes,
  onTheFallback,
  published,
} from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

const startThere: Goal = { kind: 'start', placements: ['kimi'], layout: 'fallback' };
const startHere: Goal = { kind: 'start', placements: ['kimi'], layout: 'own' };
const stopped: MeshRack['ranks'] = {
  'studio-1': [{ state: 'stopped', rank: 0 }],
  'studio-2': [{ state: 'stopped', rank: 1 }],
};
const both = ['studio-1', 'studio-4'];

describe('the gateway of a fallback whose placement is set to stopped', () => {
  const of = published({ state: 'stopped' });
  const ranks = onTheFallback(of);

  it('keeps accepting in the final check of its start and in every other start', () => {
    expect(gatewaySteps(gatewayPlan({ of, ranks: {}, closed: both, goal: startThere }))).toContain(
      'studio-4 open-endpoint',
    );
    for (const goal of [startThere, startHere]) {
      expect(gatewayChanges(gatewayPlan({ of, ranks, closed: [], goal }))).toEqual([]);
    }
  });

  it('is closed by apply', () => {
    expect(gatewayChanges(gatewayPlan({ of, ranks, closed: [] }))).toEqual(
      both.map((node) => `${node}: open -> closed`),
    );
  });
});

describe('a start after both gateways were drained', () => {
  it('opens both gateways, wherever the placement runs or moves to', () => {
    const of = published();
    const moved = gatewayPlan({ of, ranks: onItsNodes, closed: both, goal: startThere });
    expect(gatewaySteps(moved).filter((one) => one.endsWith('open-endpoint'))).toEqual([
      'studio-1 open-endpoint',
      'studio-4 open-endpoint',
    ]);
    expect(gatewayChanges(moved)).toEqual([]);
    const begun = gatewayPlan({ of, ranks: stopped, closed: both, goal: startHere });
    expect(gatewayChanges(begun)).toEqual(['studio-4: closed -> open']);
    expect(gatewaySteps(begun)).toEqual(expect.arrayContaining(['studio-1 open-endpoint', 'studio-4 endpoint/open']));
    const there = gatewayPlan({ of, ranks: {}, closed: both, goal: startThere });
    expect(gatewayChanges(there)).toEqual(['studio-1: closed -> open']);
    expect(gatewaySteps(there)).toEqual(expect.arrayContaining(['studio-4 open-endpoint', 'studio-1 endpoint/open']));
  });
});

describe('a start of one dead rank behind a drained gateway', () => {
  it('opens the gateway at the end', () => {
    const fleet = published();
    const runtimes = fleet.runtimes.map((one) =>
      one.driver === 'command' ? { ...one, restart: 'node' as const } : one,
    );
    const of = { ...fleet, runtimes };
    const rankCase = (rank: number, state: 'joined' | 'exited'): RankCase => ({
      state,
      rank,
      digest: digestIn(of, kimi(of)),
    });
    const states = ['joined', 'exited', 'joined'] as const;
    const ranks = Object.fromEntries(states.map((state, rank) => [`studio-${rank + 1}`, [rankCase(rank, state)]]));
    const plan = gatewayPlan({ of, ranks, closed: ['studio-1'] });
    const ids = plan.steps.map(({ id }) => id);
    expect(ids.filter((id) => id.includes('/stop'))).toEqual([]);
    expect(ids.at(-1)).toBe('studio-1/placement/kimi/open-endpoint');
    expect(gatewayChanges(plan)).toEqual([]);
  });
});

describe('a gateway in apply', () => {
  it('stays closed while it is unknown whether its placement serves', () => {
    const plan = gatewayPlan({ ranks: stopped, closed: both, away: ['studio-3'] });
    expect([gatewayChanges(plan), gatewaySteps(plan)]).toEqual([[], []]);
    const waiting = plan.waiting.filter(({ resource }) => resource.endsWith('/endpoint'));
    const why = 'it is closed, and whether kimi serves is unknown';
    expect(waiting).toMatchObject(
      both.map((node) => ({
        node,
        resource: 'gateway/8080/kimi/endpoint',
        for: [{ text: `gateway/8080/kimi/endpoint on ${node} is unknown (${why})` }],
        isUnknown: true,
      })),
    );
  });

  it('stays closed if the run is limited to some nodes of a placement whose state is unknown', () => {
    const limited = { targets: nodes(1, 4), away: ['studio-2', 'studio-3'] };
    const plan = gatewayPlan({ ranks: stopped, closed: both, ...limited });
    expect([gatewayChanges(plan), gatewaySteps(plan), ofPlacement(plan)]).toEqual([[], [], []]);
    expect(plan.waiting.map(({ node, resource, isUnknown }) => [node, resource, isUnknown])).toEqual(
      both.map((node) => [node, 'gateway/8080/kimi/endpoint', true]),
    );
    expect(gatewayPlan({ ranks: stopped, closed: [], ...limited }).waiting).toEqual([]);
  });

  it('opens if the run is limited to nodes of a serving placement', () => {
    expect(gatewayChanges(gatewayPlan({ ranks: onItsNodes, closed: both, targets: nodes(1) }))).toEqual([
      'studio-1: closed -> open',
    ]);
  });

  it('does not wait if it already accepts', () => {
    const plan = gatewayPlan({ ranks: stopped, closed: [], away: ['studio-3'] });
    expect(plan.waiting.filter(({ resource }) => resource.endsWith('/endpoint'))).toEqual([]);
  });

  it('opens in front of a fallback that cannot be moved back, without other changes', () => {
    const plan = gatewayPlan({ ranks: onTheFallback(published()), closed: ['studio-4'], held: 'studio-3' });
    expect(gatewayChanges(plan)).toEqual(['studio-4: closed -> open']);
    expect(gatewaySteps(plan)).toEqual(['studio-4 endpoint/open']);
    expect(ofPlacement(plan)).toEqual([]);
  });

  it('closes and opens only as part of the move when a fallback is moved back', () => {
    const plan = gatewayPlan({ ranks: onTheFallback(published()), closed: ['studio-4'] });
    expect(gatewayChanges(plan)).toEqual([]);
    expect(gatewaySteps(plan).filter((one) => one.startsWith('studio-4'))).toEqual([
      'studio-4 close-endpoint',
      'studio-4 open-endpoint',
    ]);
  });
});

onOnePage('fallback-gateways');
