import { describe, expect, it } from 'vitest';
import { backendOf } from '../../../../src/drivers/contract/mlx-group.ts';
import { observe, waves } from '../../../../src/drivers/mlx/mlx.ts';
import { nodeName } from '../../../../src/model/node.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);

/** One row per rank; `x` marks a cable to another rank. */
const matrix = (...rows: readonly string[]) =>
  rows.map((row) => [...row].map((sign) => (sign === 'x' ? 'cabled' : null)));

describe('the observation of an mlx log', () => {
  it('shows the size and transport of the last group', () => {
    expect(observe(['meshwright: group of 4 ranks over jaccl'])).toEqual({ size: 4, transport: 'rdma' });
    expect(observe(['meshwright: group of 2 ranks over jaccl', 'meshwright: group of 3 ranks over ring'])).toEqual({
      size: 3,
      transport: 'tcp',
    });
  });

  it('shows a single rank without a transport', () => {
    expect(observe(['meshwright: group of 1 ranks over none'])).toEqual({ size: 1 });
  });

  it('is empty before the group exists, and for similar lines', () => {
    const others = ['meshwright: group of 1 ranks over jaccl instead of 4', 'group of 4 ranks over jaccl'];
    expect([observe([]), observe(others)]).toEqual([{}, {}]);
  });
});

describe('mlx ranks', () => {
  it('start leader first over RDMA, and the others in parallel once it listens', () => {
    expect(waves({ nodes, transport: 'rdma' })).toEqual([
      { ranks: 'leader', until: 'meeting' },
      { ranks: 'followers', until: 'joined' },
    ]);
  });

  it('start together over sockets, or as a single rank', () => {
    const together = [{ ranks: 'all', until: 'joined' }];
    expect(waves({ nodes, transport: 'tcp' })).toEqual(together);
    expect(waves({ nodes: nodes.slice(0, 1), transport: 'rdma' })).toEqual(together);
  });

  const complete = matrix('.xx', 'x.x', 'xx.');
  it.each([
    { transport: 'rdma', cables: 'every pair', between: complete, expected: 'jaccl' },
    { transport: 'rdma', cables: 'a line', between: matrix('.x.', 'x.x', '.x.'), expected: 'jaccl-ring' },
    { transport: 'tcp', cables: 'every pair', between: complete, expected: 'ring' },
  ] as const)('use $expected for transport $transport and cables of $cables', ({ transport, between, expected }) => {
    expect(backendOf({ nodes, transport }, between)).toBe(expected);
  });

  it("use the file's backend, or none as a single rank", () => {
    expect(backendOf({ nodes, transport: 'rdma', backend: 'jaccl-ring' }, complete)).toBe('jaccl-ring');
    expect(backendOf({ nodes: nodes.slice(0, 1), transport: 'rdma', backend: 'jaccl' }, [[null]])).toBe('alone');
  });
});
