import { describe, expect, it, vi } from 'vitest';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import { oncePer } from '../../../../src/model/lists.ts';
import { viewWith } from '../../../../src/rack/resource.ts';
import { gatewayPlan, kimi, published } from '../../../rack/plans.ts';
import { desiredFleet } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

describe('oncePer', () => {
  it('makes a value once for each key', () => {
    const make = vi.fn(({ size }: { readonly size: number }) => [size]);
    const made = oncePer(make);
    const [one, two] = [{ size: 1 }, { size: 1 }];
    expect(made(one)).toBe(made(one));
    expect(made(two)).not.toBe(made(one));
    expect(make).toHaveBeenCalledTimes(2);
  });

  /** The number of times that a plan reads the first placement's publication, if the file has this many placements. */
  function readsAmong(count: number): number {
    let reads = 0;
    const of = published();
    const watched = new Proxy<DesiredPlacement>(kimi(of), {
      get: (one, key, self) => {
        if (key === 'publication') reads += 1;
        return Reflect.get(one, key, self);
      },
    });
    const others = Array.from({ length: count - 1 }, (_, at) => ({
      ...kimi(of),
      name: `kimi-${at}`,
      endpointPort: 8_081 + at,
    }));
    const placements: DesiredFleet['placements'] = [watched, ...others];
    gatewayPlan({ of: { ...of, placements }, ranks: {}, closed: [] });
    return reads;
  }

  it("reads a placement's publication as often for four placements as for one", () => {
    const alone = readsAmong(1);
    expect(alone).toBeGreaterThan(0);
    expect(readsAmong(4)).toBe(alone);
  });
});

onOnePage('once-per');

describe('a view with replaced parts', () => {
  it('computes its findings only when they are read, and shares them with the first view', () => {
    const desired = desiredFleet();
    let reads = 0;
    const observation = {
      nodes: {},
      get failures() {
        reads += 1;
        return {};
      },
    };
    const first = viewOf({ desired, observation, answered: [], targets: [] });
    const view = viewWith(first, { staying: { placements: ['kimi'], stoppedRanks: [] } });
    expect([view.staying.placements, first.staying.placements, reads]).toEqual([['kimi'], [], 0]);
    expect([view.findings, view.examination]).toEqual([first.findings, first.examination]);
    const before = reads;
    expect(before).toBeGreaterThan(0);
    expect([view.findings === first.findings, view.examination === first.examination, reads]).toEqual([
      true,
      true,
      before,
    ]);
  });
});
