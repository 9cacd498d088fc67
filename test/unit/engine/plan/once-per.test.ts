import { expect, it, vi } from 'vitest';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import { oncePer } from '../../../../src/model/lists.ts';
import { doorPlan, kimi, published } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

it('makes a value once for each key', () => {
  const make = vi.fn(({ size }: { readonly size: number }) => [size]);
  const made = oncePer(make);
  const [one, two] = [{ size: 1 }, { size: 1 }];
  expect(made(one)).toBe(made(one));
  expect(made(two)).not.toBe(made(one));
  expect(make).toHaveBeenCalledTimes(2);
});

/** How often a plan looks whether the first of so many published placements is published. */
function looksBeside(count: number): number {
  let looks = 0;
  const of = published();
  const watched = new Proxy<DesiredPlacement>(kimi(of), {
    get: (one, key, self) => {
      if (key === 'publication') looks += 1;
      return Reflect.get(one, key, self);
    },
  });
  const others = Array.from({ length: count - 1 }, (_, at) => ({
    ...kimi(of),
    name: `kimi-${at}`,
    endpointPort: 8_081 + at,
  }));
  const placements: DesiredFleet['placements'] = [watched, ...others];
  doorPlan({ of: { ...of, placements }, members: {}, closed: [] });
  return looks;
}

it('has a plan look for the doors of a placement as often beside three others as alone', () => {
  const alone = looksBeside(1);
  expect(alone).toBeGreaterThan(0);
  expect(looksBeside(4)).toBe(alone);
});

onOnePage('once-per');
