import { describe, expect, it } from 'vitest';
import { performer } from '../../../../src/cli/apply/perform-task.ts';
import { fakeRun } from '../console-of.ts';

const send = (command: readonly string[], options: object = {}) => {
  const { run } = fakeRun();
  const act = performer(
    { ...run, options: { ...run.options, ...options } },
    { folder: '/', allowed: [], agreed: () => [] },
  );
  return act({ kind: 'notify', command });
};

describe('a notice', () => {
  it('runs its program, and reports a failure without failing a placement', async () => {
    expect(await send(['true'])).toEqual({ failed: [], diagnostics: [] });
    expect(await send(['false'])).toMatchObject({
      failed: [],
      diagnostics: [{ code: 'task/notice-failed', severity: 'warning', detail: '`false` exited with status 1.' }],
    });
  });

  it('is not sent from a rehearsal', async () => {
    expect(await send(['false'], { sim: true })).toEqual({ failed: [], diagnostics: [] });
  });
});
