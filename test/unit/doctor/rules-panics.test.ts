import { describe, expect, it } from 'vitest';
import type { PanicReport } from '../../../src/model/strange-records.ts';
import type { RackChanges } from './fleet-builder.ts';
import { findingsOf, told } from './told.ts';

const bootedAt = 1_790_000_000;
const report = (change: Partial<PanicReport> = {}): PanicReport => ({
  name: 'panic-full-2026-09-21-131320.0002.panic',
  atEpochSeconds: bootedAt + 40,
  reason: 'panic(cpu 4 caller 0x1): Kernel data abort.',
  extensions: ['com.apple.iokit.IOThunderboltFamily'],
  ...change,
});
const seen = (...reports: readonly PanicReport[]): RackChanges => ({
  values: {
    'studio-3': {
      'panic-reports': reports,
      'boot-session': { uuid: '00000000-0000-4000-8000-000000000001', bootedAtEpochSeconds: bootedAt },
    },
  },
});

describe('reports of kernel panics', () => {
  it('say that this boot session began with one, what the kernel said, and how many there are', () => {
    const [finding, ...others] = findingsOf(seen(report({ atEpochSeconds: 1_700_000_000 }), report()));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ code: 'macos/panicked', severity: 'notice', subject: 'node studio-3' });
    expect(finding?.detail).toBe(
      'This boot session began after the kernel panic of panic-full-2026-09-21-131320.0002.panic. The kernel said: panic(cpu 4 caller 0x1): Kernel data abort. Its backtrace goes through com.apple.iokit.IOThunderboltFamily. There are 2 reports of panics on this Mac.',
    );
  });

  it('are no reason of this start when they were written before it, or long after it, or nobody knows when', () => {
    // The Mac panicked, wrote the report when it was up, and was then restarted by order.
    expect(told(seen(report({ atEpochSeconds: bootedAt - 300 })))).toEqual([]);
    expect(told(seen(report({ atEpochSeconds: bootedAt + 601 })))).toEqual([]);
    expect(told(seen(report({ atEpochSeconds: bootedAt + 600 })))).toEqual(['notice macos/panicked node studio-3']);
    const { atEpochSeconds: _, ...timeless } = report();
    expect(told(seen(timeless))).toEqual([]);
    expect(told(seen())).toEqual([]);
  });

  it('are told by the one that was written last, whatever the names say, and as no more than are looked into', () => {
    const old = ['a', 'b', 'z'].map((name) => report({ name: `${name}.panic`, atEpochSeconds: bootedAt - 7_200 }));
    const [finding] = findingsOf(seen(report({ name: 'Kernel.panic' }), ...old));
    expect(finding?.detail).toContain('after the kernel panic of Kernel.panic.');
    expect(finding?.detail).toMatch(/ There are at least 4 reports of panics on this Mac\.$/);
  });

  it('that name the driver of IP over Thunderbolt make TCP over cables suspected', () => {
    const [finding] = findingsOf(seen(report({ extensions: ['com.apple.driver.AppleThunderboltIP'] })));
    expect(finding).toMatchObject({ code: 'network/suspected-tcp-panic', severity: 'warning' });
    expect(finding?.hint).toContain('transport: rdma');
  });
});
