import { describe, expect, it } from 'vitest';
import { moreLike, readMacs } from '../../../../src/cli/fit/fit-model.ts';
import { judgeModelFit } from '../../../../src/drivers/fit-command.ts';
import { evenShape } from '../../engine/plan/fit-shapes.ts';

/** The advice of fit for a model of this size. */
function adviceFor(bytes: number, ...on: readonly string[]): string | undefined {
  const macs = readMacs(on, undefined);
  const fleet = { system: {}, nodes: macs, runtimes: [], models: [], placements: [] };
  const how = { driver: 'mlx', contextTokens: 8_192, parallel: 1, sharding: 'tensor' } as const;
  const asked = { name: 'big', shape: evenShape(bytes), macs, more: moreLike(macs), fleet };
  return judgeModelFit(asked, how).advice;
}

describe("fit's advice", () => {
  it('names only the given Macs, and does not propose more Macs if they differ', () => {
    expect(adviceFor(431e9, '1xMac15,14:512GB', '1xMac16,9:128GB')).toMatch(/divided by memory|nodes: \[studio-1\]/);
    expect(adviceFor(900e9, '1xMac15,14:512GB', '1xMac16,9:128GB')).toBe(
      'No context, split or choice of nodes makes the model fit on these Macs.',
    );
  });

  it('counts how many equal Macs are needed, without inventing names', () => {
    expect(adviceFor(900e9, '1xMac15,14:512GB')).toBe('The model fits on 3 Macs of this kind.');
  });
});
