import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type KeptAttempts, openUnlockAttempts } from '../../../../src/cli/unlock/unlock-by-itself.ts';

const folder = mkdtempSync(join(tmpdir(), 'meshwright-attempts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = (name: string): KeptAttempts => openUnlockAttempts({ MESHWRIGHT_STATE: join(folder, name) }, 15_000);

describe('attempts to unlock a Mac', () => {
  it('wait while another attempt may be running, and for a pause after it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    try {
      const [mine, theirs] = [open('long'), open('long')];
      expect(await mine.take('a', 45_000)).toBe(0);
      vi.setSystemTime(1_020_000);
      expect(await theirs.take('a', 45_000)).toBe(40_000);
      await mine.ended('a', 'unknown');
      expect(await theirs.take('a', 45_000)).toBe(15_000);
      vi.setSystemTime(1_035_000);
      expect(await theirs.take('a', 45_000)).toBe(0);
      // The clock was wrong: no attempt waits for an hour.
      vi.setSystemTime(1_000);
      expect(await mine.take('a', 45_000)).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('leave a record of a refusal until the Mac is unlocked', async () => {
    const attempts = openUnlockAttempts({ MESHWRIGHT_STATE: join(folder, 'refused') }, 0);
    const refusedAfter = async (act: Promise<unknown>): Promise<boolean> => {
      await act;
      return attempts.wasRefused('a');
    };
    expect(await refusedAfter(attempts.take('a', 0))).toBe(false);
    expect(await refusedAfter(attempts.ended('a', 'refused'))).toBe(true);
    expect(await refusedAfter(attempts.take('a', 0))).toBe(true);
    expect(await refusedAfter(attempts.ended('a', 'unknown'))).toBe(true);
    expect(await refusedAfter(attempts.ended('a', 'unlocked'))).toBe(false);
    expect(await refusedAfter(attempts.ended('a', 'refused'))).toBe(true);
    expect(await refusedAfter(attempts.seenUp('a'))).toBe(false);
  });

  it('fail if they cannot be recorded', async () => {
    writeFileSync(join(folder, 'file'), '');
    const attempts = open('file');
    expect(() => attempts.open()).toThrow(expect.objectContaining({ diagnostics: [expect.anything()] }));
    await expect(attempts.take('a', 0)).rejects.toMatchObject({ diagnostics: [{ code: 'cli/cannot-write' }] });
    expect(attempts.wasRefused('a')).toBe(false);
  });
});
