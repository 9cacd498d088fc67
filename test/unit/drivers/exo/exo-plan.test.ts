import { describe, expect, it } from 'vitest';
import { exoFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

const targets = exoFleet().nodes.map(({ name }) => name);

describe('a plan for a placement on exo', () => {
  it('places the model after all ranks have joined, and then asks for a token', () => {
    const desired = exoFleet();
    const observation = observeMesh(desired, { ranks: {} });
    const { steps } = makePlan({ goal: { kind: 'converge' }, desired, observation, targets });
    const talk = steps.find(({ act }) => act.kind === 'dialogue');
    expect([talk?.node, talk?.needs]).toEqual(['studio-1', ['studio-1/placement/kimi/joined']]);
    expect(steps.find(({ act }) => act.kind === 'ask')?.needs).toEqual([talk?.id]);
  });

  it('creates a dropped instance again without stopping a rank, and counts it as a start on every Mac', () => {
    const desired = exoFleet();
    const token = { kind: 'silent', reason: 'the endpoint returned status 404', status: 404 } as const;
    const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined'], { token }) });
    const { steps, effects } = makePlan({ goal: { kind: 'converge' }, desired, observation, targets });
    const own = steps.filter(({ resource }) => resource === 'placement');
    const counts = ['studio-1', 'studio-2', 'studio-3'].map((node) => `${node}/placement/kimi/count`);
    const ofMesh = (needs: readonly string[]) => needs.filter((id) => id.includes('/placement/'));
    expect(own.map(({ id, needs, group }) => [id, ofMesh(needs), group])).toEqual([
      ...counts.map((id) => [id, [], undefined]),
      ['studio-1/placement/kimi/talk', counts, undefined],
      ['studio-1/placement/kimi/ask', ['studio-1/placement/kimi/talk'], undefined],
      ['studio-1/placement/kimi/prove', ['studio-1/placement/kimi/ask'], undefined],
    ]);
    expect(own.flatMap(({ act }) => (act.kind === 'script' ? [act.args] : []))).toMatchObject(
      counts.map(() => ({ generation: 4, transport: 'rdma', isReload: true })),
    );
    expect(effects.map(({ kind }) => kind)).not.toContain('interrupt');
  });

  it('gives ranks the time that exo needs to stop its runners', () => {
    const desired = exoFleet();
    const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'exited']) });
    const plan = makePlan({ goal: { kind: 'stop', placements: ['kimi'] }, desired, observation, targets });
    const graces = plan.steps.flatMap(({ act }) =>
      act.kind === 'script' && act.name === 'stop-rank' ? [act.args.graceMs] : [],
    );
    expect(graces).toEqual([15_000, 15_000]);
  });

  it('names the key for fast synch if the file sets the variable that exo overwrites', () => {
    const fleet = exoFleet({ placement: { env: { MLX_METAL_FAST_SYNCH: '0' } } });
    const observation = observeMesh(fleet, { ranks: {} });
    const { blockers } = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets });
    expect(blockers.map(({ code, action }) => [code, action])).toEqual([
      ['placement/reserved-word', expect.stringContaining('use EXO_FAST_SYNCH')],
    ]);
  });
});

onOnePage('exo-plan');
