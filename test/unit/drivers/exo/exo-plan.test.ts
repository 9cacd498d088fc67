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
