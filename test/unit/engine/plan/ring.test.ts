import { describe, expect, it } from 'vitest';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { planText } from '../../../../src/report/plan/plan-text.ts';
import { plainPage } from '../../../rack/page.ts';
import { planFor } from '../../../rack/plans.ts';
import { desiredFleet, healthyFacts, links, type RackChanges, receptacles } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const ring = ['studio-1:2 <-> studio-2:2', 'studio-2:3 <-> studio-3:3', 'studio-1:3 <-> studio-3:2'];
const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };

/** Three bridged Macs in a ring, and a fourth with a macOS that the file does not accept. */
const rack: RackChanges = {
  cables: ring,
  values: {
    ...Object.fromEntries(
      ['studio-1', 'studio-2', 'studio-3'].map((name) => {
        const { interfaces } = healthyFacts(name, receptacles(name, 6, ring));
        return [name, { interfaces: [...interfaces.map((one) => ({ ...one, ipv4: [] })), bridge] }];
      }),
    ),
    'studio-4': { 'macos-version': { version: '26.3', build: '25D1' } },
  },
};

const fleet = (bridgePolicy: DesiredFleet['thunderbolt']['bridge']): DesiredFleet => ({
  ...desiredFleet(),
  thunderbolt: { ...desiredFleet().thunderbolt, links: links(ring), rdma: 'auto', bridge: bridgePolicy },
});

describe('a ring of bridged Macs in a plan', () => {
  it('is reported first, even if apply removes the bridges', () => {
    const plan = planFor({ desired: fleet('remove'), rack });
    expect(plan.diagnostics[0]).toMatchObject({
      code: 'bridge/loop',
      subject: { kind: 'link', text: 'studio-2:3 <-> studio-3:3' },
      hint: expect.stringContaining('Unplug this cable now'),
    });
    expect(plan.blockers.map(({ code }) => code)).not.toContain('bridge/loop');
    const text = planText({ plan, lock: { shown: 'cluster.lock', additions: [] }, next: [] }, plainPage());
    const [, first = ''] = text.split('\n\n');
    expect(first).toContain('This cable closes a ring of bridged Macs');
    expect(text.split('This cable closes a ring of bridged Macs')).toHaveLength(2);
  });

  it('is the first manual step if the bridges stay', () => {
    const { blockers } = planFor({ desired: fleet('keep'), rack });
    expect(blockers.map(({ code }) => code)).toEqual(['bridge/loop', 'macos/outside-accept']);
  });
});

onOnePage('ring');
