import { describe, expect, it } from 'vitest';
import { endProcess } from '../../../../../src/sim/hosts/control/supervisor.ts';
import { problemsOf } from '../../../problems-of.ts';

/** Ends a process whose signal fails with this code. */
const endFailing = (code: string): void =>
  endProcess(4_000_000, () => {
    throw Object.assign(new Error(`kill ${code}`), { code });
  });

describe('endProcess', () => {
  it('reports a process that belongs to a different user', () => {
    const [first] = problemsOf(() => endFailing('EPERM'));
    expect([first?.code, first?.detail]).toEqual(['sim/no-answer', expect.stringContaining('different user')]);
    expect(first?.hint).toMatch(/user who started it/);
  });

  it('succeeds if the process has already ended', () => {
    expect(() => endFailing('ESRCH')).not.toThrow();
  });

  it('throws every other error', () => {
    expect(() => endFailing('EINVAL')).toThrow('kill EINVAL');
  });

  it('sends KILL to the process', () => {
    const sent: unknown[] = [];
    endProcess(4_000_000, (...all) => sent.push(all));
    expect(sent).toEqual([[4_000_000, 'SIGKILL']]);
  });
});
