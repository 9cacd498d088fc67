import { describe, expect, it } from 'vitest';
import { keepLease } from '../../../../src/apply/lease/lease-keeper.ts';
import type { Exit } from '../../../../src/model/probe.ts';

describe('a lease renewal', () => {
  const kept = (exit: Exit) => {
    const result = { exit, stdout: new Uint8Array(), stderr: new Uint8Array() };
    return keepLease({ ask: async () => ({ kind: 'answered', result }) } as never, 1_000, () => 'true');
  };

  it('reports a lost lease only for exit code 75, otherwise a missing answer', async () => {
    expect(await kept({ kind: 'exited', code: 0 })).toBe('kept');
    expect(await kept({ kind: 'exited', code: 75 })).toBe('lost');
    for (const code of [1, 74, 76, 127, 255]) expect(await kept({ kind: 'exited', code })).toBe('unheard');
    expect(await kept({ kind: 'signalled', signal: 'KILL' })).toBe('unheard');
    expect(await kept({ kind: 'unknown', reason: 'the connection dropped' })).toBe('unheard');
  });
});
