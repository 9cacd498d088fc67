import { describe, expect, it } from 'vitest';
import { changedSettings } from '../../../src/model/declared-settings.ts';

describe('changed settings', () => {
  it('attribute values to the file, except for a version that a rollback sets in the lock', () => {
    const before = { account: 'login', context: '8k', runtime: 'mlx aaaa' };
    const now = { ...before, context: '16k', runtime: 'mlx bbbb' };
    expect(changedSettings(JSON.stringify(before), JSON.stringify(now))).toBe(
      'context 8k (file: 16k), runtime mlx aaaa (desired: mlx bbbb)',
    );
  });
});
