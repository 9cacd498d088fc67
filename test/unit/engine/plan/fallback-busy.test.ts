import { describe, expect, it } from 'vitest';
import { onFallback } from '../../../../src/desired/layouts.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { shortDigest } from '../../../../src/model/digest.ts';
import type { TokenResult } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { type MeshRack, meshFleet, observeMesh, type RankCase } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const nodes = (...numbers: readonly number[]) => numbers.map((number) => nodeName(`studio-${number}`));
const late = { kind: 'silent', reason: 'no token within 20 s', isTimeout: true } as const;
const refused = { kind: 'silent', reason: 'connection refused' } as const;
const fleetWith = (...there: readonly number[]): DesiredFleet =>
  meshFleet({ placement: { fallback: { nodes: nodes(...there), contextTokens: 2_048 } } });

/** The ranks of a fleet's fallback, whose leader has this token reading. */
function onTheFallback(of: DesiredFleet, token: TokenResult, last: RankCase['state'] = 'joined') {
  const [first] = of.placements.map(onFallback);
  if (first === undefined) throw new Error('the fleet has no placement');
  const { digest = '' } = configurePlacement(first, of, 0, lastingNames);
  const entries = first.nodes.map((node, rank): [string, readonly RankCase[]] => {
    const state = rank === first.nodes.length - 1 ? last : 'joined';
    const changes = { size: first.nodes.length };
    return [node, [{ state, generation: 5, rank, digest, changes, ...(rank === 0 ? { token } : {}) }]];
  });
  return Object.fromEntries(entries);
}

const own = (token: TokenResult, last: RankCase['state'] = 'joined'): MeshRack['ranks'] => ({
  'studio-1': [{ state: 'joined', rank: 0, token }],
  'studio-2': [{ state: 'joined', rank: 1 }],
  'studio-3': [{ state: last, rank: 2 }],
});

interface Case {
  readonly of: DesiredFleet;
  readonly ranks: MeshRack['ranks'];
  readonly goal?: Goal;
  readonly away?: readonly string[];
}

function planOf({ of, ranks, goal = { kind: 'converge' }, away = [] }: Case): Plan {
  const trees = [...of.runtimes, ...of.models].map(({ name, digest }, at) => ({
    kind: at === 0 ? ('runtime' as const) : ('model' as const),
    name,
    digest: digest === undefined ? '' : shortDigest(digest),
    state: 'intact' as const,
    isCurrent: true,
  }));
  const values = of.nodes.map(({ name }) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, trees, hold: [] }];
  });
  const observation = observeMesh(of, { ranks, values: Object.fromEntries(values), unreachable: away });
  return makePlan({ goal, desired: of, observation, targets: of.nodes.map(({ name }) => name) });
}

/** The interruptions in a plan, and the time that it gives ranks to stop. */
function stopsOf(of: DesiredFleet, ranks: MeshRack['ranks'], goal: Goal = { kind: 'converge' }) {
  const plan = planOf({ of, ranks, goal });
  const graces = plan.steps.flatMap(({ act }) =>
    act.kind === 'script' && act.name === 'stop-rank' ? [act.args.graceMs] : [],
  );
  return { interrupts: plan.effects.filter(({ kind }) => kind === 'interrupt').length, graces: [...new Set(graces)] };
}

const startThere: Goal = { kind: 'start', placements: ['kimi'], layout: 'fallback' };
const asked = { interrupts: 1, graces: [10_000] };
const free = { interrupts: 0, graces: [2_000] };

describe('a placement that gave no token in time', () => {
  it('is moved back from its fallback as an interruption unless it is broken there', () => {
    const of = fleetWith(4, 1);
    expect(stopsOf(of, onTheFallback(of, late))).toEqual(asked);
    expect(stopsOf(of, onTheFallback(of, refused))).toEqual(free);
    expect(stopsOf(of, onTheFallback(of, late, 'exited'))).toEqual(free);
  });

  it('is moved to its fallback as an interruption unless it is broken', () => {
    const of = fleetWith(4);
    expect(stopsOf(of, own(late), startThere)).toEqual(asked);
    expect(stopsOf(of, own(refused), startThere)).toEqual(free);
    expect(stopsOf(of, own(late, 'exited'), startThere)).toEqual(free);
  });

  it('is restarted without an interruption if it lost a rank that its fallback does not need', () => {
    const of = fleetWith(1, 2);
    expect(stopsOf(of, own(late, 'exited'))).toEqual(free);
  });
});

describe('a fallback that runs but does not serve', () => {
  const reported = (ranks: (of: DesiredFleet) => MeshRack['ranks'], away: readonly string[]) => {
    const of = fleetWith(4, 1);
    const { diagnostics } = planOf({ of, ranks: ranks(of), away });
    const found = diagnostics.find(({ code }) => code === 'mesh/on-fallback');
    return [found?.detail, found?.hint].map((text = '') => plainText(text));
  };

  it('is reported with the command that restarts it there', () => {
    const there = 'It runs on its fallback: studio-4, studio-1, context 2k.';
    const wait = 'Moving it back waits for studio-3.';
    const restart = expect.stringContaining('meshwright restart kimi');
    expect(reported((of) => onTheFallback(of, refused), ['studio-3'])).toEqual([
      `${there} It returns no token there. ${wait}`,
      restart,
    ]);
    expect(reported((of) => onTheFallback(of, refused, 'exited'), ['studio-3'])).toEqual([
      `${there} Some of its ranks do not run there. ${wait}`,
      restart,
    ]);
    const serves = reported((of) => onTheFallback(of, { kind: 'answered', text: 'Hi' }), ['studio-3']);
    expect(serves).toEqual([`${there} ${wait}`, expect.not.stringContaining('restart')]);
  });
});

onOnePage('fallback-busy');
