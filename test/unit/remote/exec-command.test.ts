import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { type CommandHooks, startCommand } from '../../../src/remote/exec-command.ts';
import { diagnoseExit } from '../../../src/remote/exit-reasons.ts';
import type { ExecResult } from '../../../src/remote/remote.ts';

describe('a command on a connection that is half closed', () => {
  it('ends with an unknown exit instead of an exception, and gives its place back once', async () => {
    const told: string[] = [];
    const hooks: CommandHooks = {
      released: () => told.push('released'),
      refused: () => false,
      abandoned: () => told.push('abandoned'),
      received: () => told.push('received'),
    };
    const limits = { deadlineMs: 60_000, maxBytes: 10 };
    const result = await new Promise<ExecResult>((resolve) => {
      startCommand(new ssh2.Client(), { command: 'true', limits, resolve }, hooks);
    });
    expect(diagnoseExit('studio-1', result.exit)?.code).toBe('ssh/dropped');
    expect(told).toEqual(['released']);
  });
});
