import { describe, expect, it } from 'vitest';
import { isEmptyPlan } from '../../../../src/engine/plan/plan.ts';
import { seenProperties } from '../../../../src/engine/plan/view.ts';
import { identityDigest } from '../../../../src/model/facts/mac.ts';
import { changed, planFor, stepIds } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet, settledFleet, settledValues } from '../../../rack/rack.ts';
import { onOnePage, say } from '../../one-page.ts';

describe('a plan', () => {
  it('is empty for a rack that matches the file', () => {
    const plan = planFor({});
    expect(plan).toMatchObject({ changes: [], steps: [], waiting: [], blockers: [], effects: [] });
    expect(isEmptyPlan(plan)).toBe(true);
  });

  it('changes only the differing property on its node', () => {
    const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
    const plan = planFor({ rack: { values: { 'studio-2': { power } } } });
    expect(changed(plan)).toEqual(['studio-2 power/sleep']);
    expect(stepIds(plan)).toEqual(['studio-2/power/set']);
    expect(plan.steps[0]).toMatchObject({
      act: { kind: 'script', name: 'set-power', args: { sleepMinutes: 0 } },
      establishes: [{ node: 'studio-2', address: 'power/sleep', value: 0 }],
      effect: { kind: 'none' },
    });
  });

  it('does not change any node while one Mac differs from the lock', () => {
    const desired = desiredFleet();
    const identity = identityDigest({ serial: 'SERSTUDIO3', hardwareUuid: 'UUID-of-another' });
    const nodes = desired.nodes.map((node) => (node.name === 'studio-3' ? { ...node, identity } : node));
    const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
    const plan = planFor({ desired: { ...desired, nodes }, rack: { values: { 'studio-2': { power } } } });
    expect(plan).toMatchObject({ changes: [], steps: [], blockers: [{ code: 'identity/wrong-mac' }] });
    expect(plan.waiting.map(({ node, resource }) => `${node} ${resource}`)).toEqual(['studio-2 power/sleep']);
  });
});

describe('the values of properties', () => {
  it('are read as in golden/make-plan.txt, where each unobserved value has a reason', () => {
    const { 'studio-1': own, ...others } = settledValues();
    const gids = [{ index: 0, gid: 'fe80::1' }];
    const changes: Readonly<Record<string, object>> = { rdma_en3: { gids }, rdma_en4: { state: 'down' } };
    const studio = {
      ...own,
      'rdma-ports': own?.['rdma-ports']?.map((port) => ({ ...port, ...changes[port.device] })) ?? [],
      baseline: { values: [{ key: 'power', text: 'sleep 1\nautorestart 0' }], daemons: [] },
      traces: { hasFolder: true, trees: 'models' as const, hasSudoers: true, hasKey: false },
    };
    const rack = {
      values: { ...others, 'studio-1': studio },
      unknown: { 'studio-2': { power: 'timed-out' as const } },
    };
    for (const [key, seen] of seenProperties(settledFleet(), observedFleet(rack)))
      if (/^studio-[12] /.test(key)) say(`${key} ${JSON.stringify(seen)}`);
  });
});

onOnePage('make-plan');
