import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import {
  withNodes,
  withOtherMac,
  withoutNode,
  withoutWithdrawal,
  withWithdrawal,
} from '../../../../src/desired/settle/settle.ts';
import { digest } from '../../../../src/model/digest.ts';

const lock = emptyLock('cluster.lock');

describe('a node in the lock', () => {
  it('is being withdrawn until it is reached again, forgotten or replaced', () => {
    const both = withWithdrawal(withWithdrawal(withNodes(lock, ['a', 'b']), 'b'), 'a');
    expect([both.nodes, both.withdrawing]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(withoutNode(both, 'a')).toMatchObject({ nodes: ['b'], withdrawing: ['b'] });
    expect(withoutWithdrawal(both, ['a', 'b']).withdrawing).toBeUndefined();
    expect(withOtherMac(both, 'a', digest('1'.repeat(64))).withdrawing).toEqual(['b']);
  });
});
