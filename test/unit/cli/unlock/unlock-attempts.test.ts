import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openUnlockAttempts, type RecordedAttempts } from '../../../../src/cli/unlock/unlock-by-itself.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const { at, write } = temporaryFolder();
const open = (name: string): RecordedAttempts => openUnlockAttempts({ MESHWRIGHT_STATE: at(name) }, 15_000);

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
    const attempts = openUnlockAttempts({ MESHWRIGHT_STATE: at('refused') }, 0);
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

  it('are stored in one private file per address, and unreadable files are ignored', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const attempts = open('kept');
    await attempts.take('b', 5_000);
    await attempts.ended('a', 'refused');
    await attempts.seenUp('b');
    vi.useRealTimers();
    const place = at('kept/unlock');
    const kept = readdirSync(place).map((name) => [name, readFileSync(join(place, name), 'utf8')]);
    expect(kept).toEqual([
      ['3e23e8160039594a.json', '{"atEpochMs":1000000,"mostMs":5000,"isRefused":false}\n'],
      ['ca978112ca1bbdca.json', '{"atEpochMs":1000000,"mostMs":0,"isRefused":true}\n'],
    ]);
    expect([place, join(place, '3e23e8160039594a.json')].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o600,
    ]);
    for (const text of ['', 'null', '7', '{"isRefused":true}', '{"atEpochMs":"1","isRefused":true}']) {
      write('kept/unlock/ca978112ca1bbdca.json', text);
      expect(attempts.wasRefused('a')).toBe(false);
    }
    write('kept/unlock/ca978112ca1bbdca.json', '{"atEpochMs":1,"mostMs":"9","isRefused":true}');
    await attempts.seenUp('a');
    expect(readFileSync(join(place, 'ca978112ca1bbdca.json'), 'utf8')).toBe(
      '{"atEpochMs":1,"mostMs":0,"isRefused":false}\n',
    );
  });

  it('fail if they cannot be recorded', async () => {
    write('file', '');
    const attempts = open('file');
    expect(() => attempts.open()).toThrow(expect.objectContaining({ diagnostics: [expect.anything()] }));
    await expect(attempts.take('a', 0)).rejects.toMatchObject({ diagnostics: [{ code: 'cli/cannot-write' }] });
    expect(attempts.wasRefused('a')).toBe(false);
  });
});
