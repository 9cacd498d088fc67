import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askFaults } from '../../../../src/cli/sim/sim.ts';
import type { RunFile } from '../../../../src/sim/hosts/control/run-folder.ts';

describe('a request to the simulator', () => {
  it('fails with sim/no-answer if no simulator answers', async () => {
    const runFile = { controlSocket: join(tmpdir(), `no-such-socket-${process.pid}`) } as RunFile;
    await expect(askFaults(runFile, { ask: 'status' })).rejects.toMatchObject({
      diagnostics: [{ code: 'sim/no-answer' }],
    });
  });
});
