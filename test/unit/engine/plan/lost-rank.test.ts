import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { TokenResult } from '../../../../src/model/facts/fact-values.ts';
import { placementSubject } from '../../../../src/model/subject.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { type MeshRack, meshFleet } from '../../../rack/placements.ts';
import { nodes, type PlacedCase, placedPlan } from '../../../rack/plans.ts';
import { diagnosticsAsText } from '../../as-text.ts';
import { onOnePage } from '../../one-page.ts';

const late: TokenResult = { kind: 'silent', reason: 'no answer in time', isTimeout: true };
const ranks = (token: TokenResult): MeshRack['ranks'] => ({
  'studio-1': [{ state: 'joined', rank: 0, token }],
  'studio-2': [{ state: 'joined', rank: 1 }],
  'studio-3': [{ state: 'joined', rank: 2 }],
});
const answers = ranks({ kind: 'answered', text: 'Hi' });
const hangs = ranks(late);

const stop: Goal = { kind: 'stop', placements: ['kimi'] };
const stopOfRestart: Goal = { ...stop, back: ['kimi'] };

const plan = (one: PlacedCase): Plan => placedPlan({ of: meshFleet(), ...one });
const stopsIn = ({ steps }: Plan): readonly string[] =>
  steps.filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank').map(({ node }) => node);
const lost = ({ diagnostics }: Plan) => diagnosticsAsText(diagnostics).filter(({ code }) => code === 'mesh/lost-rank');

describe('a stop while a node is unavailable', () => {
  it.each([
    ['a follower', 'studio-3', ['studio-1', 'studio-2']],
    ['the leader', 'studio-1', ['studio-2', 'studio-3']],
  ])('stops the other ranks, and waits for %s', (_, away, others) => {
    const made = plan({ ranks: hangs, away: [away], goal: stop });
    expect(made.changes.map(({ node, resource, to }) => `${node} ${resource} ${to}`)).toEqual(
      others.map((node) => `${node} placement/kimi/rank stopped`),
    );
    expect(stopsIn(made)).toEqual(others);
    expect(made.waiting).toEqual([expect.objectContaining({ resource: 'placement/kimi', isUnknown: true })]);
    expect([lost(made), made.steps.every(({ node }) => node !== away)]).toEqual([[], true]);
  });

  it('names the unobserved node', () => {
    const { waiting } = plan({ ranks: hangs, away: ['studio-3'], goal: stop });
    expect(waiting.flatMap((one) => one.for.map(({ text }) => text))).toContain(
      'placement/kimi on studio-1 is unknown (studio-3: the node was not reached)',
    );
  });

  it("stops followers after their leader, whether or not the leader's stop succeeds", () => {
    const { steps } = plan({ ranks: hangs, away: ['studio-3'], goal: stop });
    const follower = steps.find(({ id }) => id === 'studio-2/placement/kimi/stop');
    expect([follower?.needs, follower?.after]).toEqual([[], ['studio-1/placement/kimi/stop']]);
  });

  it.each<[string, MeshRack['ranks'], string]>([
    ['the placement answers', answers, 'studio-3'],
    ['the placement may only be busy', hangs, 'studio-3'],
    ['the leader is away', answers, 'studio-1'],
  ])('is an interruption while %s', (_, ranks, away) => {
    const kinds = plan({ ranks, away: [away], goal: stop }).effects.map(({ kind }) => kind);
    expect(kinds).toContain('interrupt');
  });

  it('is empty once the other ranks are stopped', () => {
    const ranks = { 'studio-1': [{ state: 'stopped', rank: 0 }], 'studio-2': [{ state: 'stopped', rank: 1 }] } as const;
    const made = plan({ ranks, away: ['studio-3'], goal: stop });
    expect([made.changes, made.steps]).toEqual([[], []]);
  });

  it('happens in apply for a placement that the file sets to stopped', () => {
    const of = meshFleet({ placement: { state: 'stopped' } });
    expect(stopsIn(plan({ of, ranks: hangs, away: ['studio-3'] }))).toEqual(['studio-1', 'studio-2']);
  });
});

describe('the stop in a restart while a node is unavailable', () => {
  it('stops a placement that gives no token', () => {
    expect(stopsIn(plan({ ranks: hangs, away: ['studio-3'], goal: stopOfRestart }))).toEqual(['studio-1', 'studio-2']);
  });

  it.each<[string, MeshRack['ranks'], string, string]>([
    ['answers', answers, 'studio-3', 'the placement returned a token'],
    ['may answer, since its leader is away', hangs, 'studio-1', 'whether the placement answers is unknown'],
  ])('keeps a placement that %s, and shows the command that stops it', (_, ranks, away, words) => {
    const made = plan({ ranks, away: [away], goal: stopOfRestart });
    expect(made.steps).toEqual([]);
    expect(
      lost(made).map(({ detail, hint }) => [detail.includes(words), hint.endsWith('meshwright stop kimi')]),
    ).toEqual([[true, true]]);
  });

  it('expects the token from rank 0, or from the leader if there is no rank 0', () => {
    const token: TokenResult = { kind: 'answered', text: 'Hi' };
    const swapped: MeshRack['ranks'] = {
      'studio-1': [{ state: 'joined', rank: 1 }],
      'studio-2': [{ state: 'joined', rank: 0, token }],
    };
    const unnumbered: MeshRack['ranks'] = { 'studio-2': [{ state: 'joined', rank: 1 }] };
    const stops = [swapped, unnumbered].map((ranks) =>
      stopsIn(plan({ ranks, away: ['studio-3'], goal: stopOfRestart })),
    );
    expect(stops).toEqual([[], ['studio-2']]);
  });

  it('stops all reachable ranks before a reboot of one of their Macs', () => {
    const goal: Goal = { kind: 'reboot', nodes: nodes(1), back: ['kimi'] };
    expect(stopsIn(plan({ ranks: answers, away: ['studio-3'], goal }))).toEqual(['studio-1', 'studio-2']);
  });
});

describe('the reboot of an unreachable Mac', () => {
  it.each<[string, Goal['kind']]>([
    ['reboot', 'reboot'],
    ['shutdown', 'shutdown'],
  ])('stops nothing on other Macs in a %s', (_, kind) => {
    const goal = { kind, nodes: nodes(3), back: ['kimi'] } as Goal;
    const made = plan({ ranks: hangs, away: ['studio-3'], goal });
    expect([made.steps, made.changes]).toEqual([[], []]);
    expect(made.waiting.flatMap((one) => one.for.map(({ text }) => text))).toContain(
      'studio-3 cannot be restarted now',
    );
    expect(Object.keys(made.unreached ?? {})).toEqual(['studio-3']);
  });

  it('stops the other ranks if a reachable Mac is also restarted', () => {
    const goal: Goal = { kind: 'reboot', nodes: nodes(1, 3), back: ['kimi'] };
    expect(stopsIn(plan({ ranks: hangs, away: ['studio-3'], goal }))).toEqual(['studio-1', 'studio-2']);
  });
});

describe('apply while a node is unavailable', () => {
  it('does not stop any rank, and reports how to stop the remaining ones', () => {
    const made = plan({ ranks: hangs, away: ['studio-3'] });
    expect(made.steps).toEqual([]);
    expect(lost(made)).toEqual([
      expect.objectContaining({
        subject: placementSubject('kimi'),
        detail:
          'Could not observe studio-3. The ranks on studio-1, studio-2 still run, and the placement returns no token.',
        hint: 'kimi cannot be started again until studio-3 is back. To stop the remaining ranks:\n  meshwright stop kimi',
      }),
    ]);
  });

  it('reports a lost rank even if its node is not a target', () => {
    const made = plan({ ranks: hangs, away: ['studio-3'], targets: nodes(1, 2) });
    expect([made.waiting, lost(made)]).toEqual([[], [expect.objectContaining({ code: 'mesh/lost-rank' })]]);
  });

  it.each<[string, Partial<PlacedCase>]>([
    ['gives a token', { ranks: answers }],
    ['has no running rank', { ranks: { 'studio-1': [{ state: 'stopped', rank: 0 }] } }],
    ['has no node among the targets', { targets: nodes(4) }],
  ])('reports no lost rank of a placement that %s', (_, one) => {
    expect(lost(plan({ ranks: hangs, away: ['studio-3'], ...one }))).toEqual([]);
  });
});

onOnePage('lost-rank');
