import { describe, expect, it } from 'vitest';
import { changedSettings } from '../../../src/model/declared-settings.ts';

describe('changed settings', () => {
  it('attribute values to the file, except for a version that a rollback sets in the lock', () => {
    const same = { account: 'login', model: 'kimi' };
    const before = { ...same, context: '8k', runtime: 'mlx aaaa', backend: 'ring' };
    const now = { ...same, context: '16k', runtime: 'mlx bbbb', drafter: 'tiny' };
    expect(changedSettings(JSON.stringify(before), JSON.stringify(now))).toBe(
      'context 8k (file: 16k), runtime mlx aaaa (desired: mlx bbbb), backend ring (file: not set), drafter not set (file: tiny)',
    );
  });
});
