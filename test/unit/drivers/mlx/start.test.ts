import { describe, expect, it } from 'vitest';
import { backendOf } from '../../../../src/drivers/mlx/configure.ts';
import { observe, phases } from '../../../../src/drivers/mlx/mlx.ts';
import { nodeName } from '../../../../src/model/node.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);

/** What each rank has towards the others: a word where they have a cable. */
const matrix = (...rows: readonly string[]) =>
  rows.map((row) => [...row].map((sign) => (sign === 'x' ? 'cabled' : null)));

describe('what a rank of mlx wrote down', () => {
  it('is the size of the last group, and whether it went over RDMA', () => {
    expect(observe(['meshwright: group of 4 ranks over jaccl'])).toEqual({ size: 4, transport: 'rdma' });
    expect(observe(['meshwright: group of 2 ranks over jaccl', 'meshwright: group of 3 ranks over ring'])).toEqual({
      size: 3,
      transport: 'tcp',
    });
  });

  it('is a group of one without a transport where it is alone', () => {
    expect(observe(['meshwright: group of 1 ranks over none'])).toEqual({ size: 1 });
  });

  it('is nothing before the group is there, nor from lines that only look so', () => {
    const others = ['meshwright: group of 1 ranks over jaccl instead of 4', 'group of 4 ranks over jaccl'];
    expect([observe([]), observe(others)]).toEqual([{}, {}]);
  });
});

describe('ranks of mlx', () => {
  it('are started with the leader first over RDMA, and the others all at once when it listens', () => {
    expect(phases({ nodes, transport: 'rdma' })).toEqual([
      { ranks: 'leader', until: 'meeting' },
      { ranks: 'followers', until: 'joined' },
    ]);
  });

  it('are started together over sockets, and when there is only one', () => {
    const together = [{ ranks: 'all', until: 'joined' }];
    expect(phases({ nodes, transport: 'tcp' })).toEqual(together);
    expect(phases({ nodes: nodes.slice(0, 1), transport: 'rdma' })).toEqual(together);
  });

  const complete = matrix('.xx', 'x.x', 'xx.');
  it.each([
    { transport: 'rdma', cables: 'every pair', between: complete, expected: 'jaccl' },
    { transport: 'rdma', cables: 'a line', between: matrix('.x.', 'x.x', '.x.'), expected: 'jaccl-ring' },
    { transport: 'tcp', cables: 'every pair', between: complete, expected: 'ring' },
  ] as const)(
    'talk over $expected where the file has $transport and cables $cables',
    ({ transport, between, expected }) => {
      expect(backendOf({ nodes, transport }, between)).toBe(expected);
    },
  );

  it('talk as the file says, and to nobody alone', () => {
    expect(backendOf({ nodes, transport: 'rdma', backend: 'jaccl-ring' }, complete)).toBe('jaccl-ring');
    expect(backendOf({ nodes: nodes.slice(0, 1), transport: 'rdma', backend: 'jaccl' }, [[null]])).toBe('alone');
  });
});
