import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet, UnreadArchive, UnreadSource } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'runtime', name: 'reference', digest: '0'.repeat(16), isCurrent: false, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];
const answers = { token: { kind: 'answered', text: 'Hi' } } as const;

/** A plan for a rack in which one Mac sleeps and the placement answers. */
function plan(fleet: DesiredFleet): Plan {
  const values = names.map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, trees, ...(name === 'studio-4' ? { power: { ...facts.power, sleepMinutes: 10 } } : {}) }];
  });
  const ranks = threeRanks(['joined', 'running', 'running'], answers);
  const observation = observeMesh(fleet, { ranks, values: Object.fromEntries(values) });
  const targets = names.map((name) => nodeName(name));
  return makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets });
}

const without = <T extends { readonly digest?: unknown }>(one: T, unread: UnreadArchive): T => {
  const { digest: _, ...plain } = one;
  return { ...plain, unread } as unknown as T;
};

describe('a plan without a source on this computer', () => {
  const base = { ...meshFleet({ placement: { transport: 'rdma' } }), power: { sleepMinutes: 0 } };
  const missing: UnreadSource = { kind: 'missing', detail: '/dist/x is not there.' };

  it.each<[string, string, DesiredFleet]>([
    ['an archive', 'runtime/archive-missing', { ...base, runtimes: base.runtimes.map((one) => without(one, missing)) }],
    ['a model folder', 'model/folder-missing', { ...base, models: base.models.map((one) => without(one, missing)) }],
    [
      'a readable archive',
      'runtime/archive-unreadable',
      { ...base, runtimes: base.runtimes.map((one) => without(one, { ...missing, kind: 'unreadable' })) },
    ],
  ])('changes the Macs, but not the placement, without %s', (_, code, fleet) => {
    const made = plan(fleet);
    const ids = made.steps.map(({ id }) => id);
    expect(ids.some((id) => id.startsWith('studio-4/power'))).toBe(true);
    expect(ids.filter((id) => /placement|model|studio-[123]\/runtime/.test(id))).toEqual([]);
    const found = made.blockers.filter((one) => one.code === code);
    expect(found.map(({ node }) => node)).toEqual(names.slice(0, 3));
    expect(found[0]?.action).toContain('/dist/x is not there.');
    expect(made.later).toBeUndefined();
  });

  it('announces the interruption that apply will cause after it has listed the packages', () => {
    const lists = { name: 'mlx-lm', version: '0.32.0', python: '3.12' };
    const extras = [{ name: 'requirements.lock', source: '/rack/list', lists }];
    const runtimes = base.runtimes.map((one) => ({
      ...without(one, { kind: 'to-list', detail: 'The packages are not listed yet.' }),
      sha256: digestOf('uv'),
      extras,
    }));
    const made = plan({ ...base, runtimes });
    expect(made.effects).toEqual([]);
    expect(made.later?.map(({ kind, placements }) => [kind, placements])).toEqual([
      ['start', ['kimi']],
      ['interrupt', ['kimi']],
    ]);
    const texts = made.waiting.flatMap((one) => one.for.map(({ text }) => text));
    expect(texts).toEqual(['known after the packages of reference are listed']);
  });
});

onOnePage('unread-sources');
