import { describe, expect, it } from 'vitest';
import { changedSettings } from '../../../src/model/declared-settings.ts';

describe('changed settings', () => {
  it('attribute values to the file, except for a version that a rollback sets in the lock', () => {
    const same = { account: 'login', model: 'kimi' };
    const before = { ...same, context: '8k', runtime: 'mlx a', backend: 'ring' };
    const now = { ...same, context: '16k', runtime: 'mlx b', drafter: 'x' };
    expect(changedSettings(JSON.stringify(before), JSON.stringify(now))).toBe(
      'context 8k (file: 16k), runtime mlx a (desired: mlx b), backend ring (file: not set), drafter not set (file: x)',
    );
  });

  it('show runtime versions before their digests', () => {
    const [before, now] = ['exo 0011', 'mlx 2233'].map((runtime) => JSON.stringify({ runtime }));
    expect(changedSettings(before, now, { '0011': '1.0.71' })).toBe('runtime exo 1.0.71 0011 (desired: mlx 2233)');
  });
});
