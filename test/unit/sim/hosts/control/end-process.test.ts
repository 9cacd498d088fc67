import { afterEach, describe, expect, it, vi } from 'vitest';
import { endProcess } from '../../../../../src/sim/hosts/control/supervisor.ts';
import { problemsOf } from '../../../problems-of.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Ends a process whose signal fails with this code. */
function endFailing(code: string): void {
  vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(`kill ${code}`), { code });
  });
  endProcess(4_000_000);
}

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
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    endProcess(4_000_000);
    expect(kill.mock.calls).toEqual([[4_000_000, 'SIGKILL']]);
  });
});
