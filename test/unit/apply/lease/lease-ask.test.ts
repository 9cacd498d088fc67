import { describe, expect, it } from 'vitest';
import { keepLease } from '../../../../src/apply/lease/lease-keeper.ts';
import type { Exit } from '../../../../src/model/probe.ts';

describe('a lease renewal', () => {
  const outcomeOf = (exit: Exit) => {
    const result = { exit, stdout: new Uint8Array(), stderr: new Uint8Array() };
    return keepLease({ ask: async () => ({ kind: 'answered', result }) } as never, 1_000, () => 'true');
  };

  it('reports a lost lease only for exit code 75, and a missing response for any other failure', async () => {
    expect(await outcomeOf({ kind: 'exited', code: 0 })).toBe('done');
    expect(await outcomeOf({ kind: 'exited', code: 75 })).toBe('lost');
    for (const code of [1, 74, 76, 127, 255]) expect(await outcomeOf({ kind: 'exited', code })).toBe('unheard');
    expect(await outcomeOf({ kind: 'signalled', signal: 'KILL' })).toBe('unheard');
    expect(await outcomeOf({ kind: 'unknown', reason: 'the connection dropped' })).toBe('unheard');
  });
});
