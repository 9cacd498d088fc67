import { describe, expect, it } from 'vitest';
import { FleetError } from '../../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import { endProcess } from '../../../../../src/sim/hosts/control/supervisor.ts';

const failWith = (code: string) => (): never => {
  throw Object.assign(new Error(`kill ${code}`), { code });
};

function thrown(code: string): unknown {
  try {
    return endProcess(4_000_000, failWith(code));
  } catch (error) {
    return error;
  }
}

describe('endProcess', () => {
  it('reports a process that belongs to a different user', () => {
    const error = thrown('EPERM');
    expect(error).toBeInstanceOf(FleetError);
    const [first] = error instanceof FleetError ? error.diagnostics : [];
    expect([first?.code, first?.detail]).toEqual(['sim/no-answer', expect.stringContaining('different user')]);
    expect(first && plainText(first.hint)).toMatch(/user who started it/);
  });

  it('succeeds if the process has already ended', () => {
    expect(thrown('ESRCH')).toBeUndefined();
  });

  it('throws every other error', () => {
    expect(thrown('EINVAL')).toMatchObject({ message: 'kill EINVAL' });
  });

  it('sends KILL to the process', () => {
    const sent: unknown[] = [];
    endProcess(4_000_000, (...all) => sent.push(all));
    expect(sent).toEqual([[4_000_000, 'SIGKILL']]);
  });
});
