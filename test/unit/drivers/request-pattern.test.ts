import { describe, expect, it } from 'vitest';
import { requestPattern } from '../../../src/drivers/exo/exo.ts';
import { requestPatternOf } from '../../../src/drivers/registry.ts';
import { fleetOfDriver } from '../../rack/placements.ts';

describe('the request pattern', () => {
  it("comes from the placement's runtime, and is undefined without either", () => {
    const exo = fleetOfDriver('exo');
    const [name = ''] = exo.placements.map((one) => one.name);
    expect(requestPatternOf(exo, name)).toBe(requestPattern);
    expect(requestPatternOf(fleetOfDriver('llamacpp-rpc'), name)).toBeUndefined();
    expect(requestPatternOf(exo, 'other')).toBeUndefined();
    expect(requestPatternOf({ ...exo, runtimes: [] }, name)).toBeUndefined();
  });
});
