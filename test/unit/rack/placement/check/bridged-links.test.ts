import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../../src/model/desired.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { placementFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../../src/rack/placement/check/placement-survey.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { healthyFacts, meshOfFour, receptacles } from '../../../../rack/rack.ts';
import { onOnePage } from '../../../one-page.ts';

const targets = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };

/** `kimi` over TCP on studio-1, studio-2 and studio-3, under `bridge: keep` unless overridden. */
function fleet(thunderbolt: Partial<DesiredFleet['thunderbolt']> = {}): DesiredFleet {
  const base = meshFleet();
  return { ...base, thunderbolt: { ...base.thunderbolt, bridge: 'keep', rdma: 'auto', ...thunderbolt } };
}

/** An idle rack with the receptacles of this node in a bridge. */
function bridgedOn(name: string): MeshRack {
  const { interfaces } = healthyFacts(name, receptacles(name, 6, meshOfFour));
  const held = interfaces.map((one) => (bridge.members.includes(one.name) ? { ...one, ipv4: [] } : one));
  return {
    ranks: threeRanks(['stopped', 'stopped', 'stopped']),
    values: { [name]: { interfaces: [...held, bridge] } },
  };
}

function judged(desired: DesiredFleet, rack: MeshRack) {
  const observation = observeMesh(desired, rack);
  const plan = makePlan({ goal: { kind: 'converge' }, desired, observation, targets });
  const view = viewOf({ desired, observation, targets });
  return {
    blockers: plan.blockers.filter(({ code }) => code === 'placement/bridged-link'),
    isStarted: plan.changes.some(({ id }) => id.includes('placement/kimi')),
    findings: placementFindings(view, surveyPlacements(view)).map(({ code }) => code),
  };
}

describe('ranks that would connect over bridged receptacles', () => {
  it('are not started over TCP under bridge: keep', () => {
    const { blockers, isStarted, findings } = judged(fleet(), bridgedOn('studio-1'));
    expect(blockers).toMatchObject([
      {
        node: 'studio-1',
        action:
          "placement kimi: Its ranks connect over receptacles 2 and 3 of studio-1, but the file keeps a bridge there, so they have no address. Set bridge: remove under thunderbolt and apply again. Or remove studio-1 from the placement's nodes, or these links from the file.",
        blocks: ['studio-1 placement/kimi'],
      },
    ]);
    expect(isStarted).toBe(false);
    expect(findings).toEqual(['placement/bridged-link']);
  });

  it('are started when the bridge contains none of their cables', () => {
    expect(judged(fleet(), bridgedOn('studio-4'))).toEqual({
      blockers: [],
      isStarted: true,
      findings: ['mesh/not-serving'],
    });
    const none: MeshRack = { ranks: threeRanks(['stopped', 'stopped', 'stopped']) };
    expect(judged(fleet(), none)).toMatchObject({ blockers: [], isStarted: true });
  });

  it('do not cause a blocker when RDMA is required or apply removes the bridge', () => {
    expect(judged(fleet({ rdma: 'required' }), bridgedOn('studio-1')).blockers).toEqual([]);
    expect(judged(fleet({ bridge: 'remove' }), bridgedOn('studio-1'))).toMatchObject({ blockers: [], isStarted: true });
  });
});

onOnePage('bridged-links');
