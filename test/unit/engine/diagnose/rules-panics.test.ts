import { describe, expect, it } from 'vitest';
import type { PanicReport } from '../../../../src/model/facts/daemons.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import type { RackChanges } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
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

describe('kernel panic reports', () => {
  it('cause a notice with message and number if one was written in this boot session', () => {
    const [finding, ...others] = findingsOf(seen(report({ atEpochSeconds: 1_700_000_000 }), report()));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ code: 'macos/panicked', severity: 'notice', subject: nodeSubject('studio-3') });
    expect(finding?.detail).toBe(
      'macOS wrote a kernel panic report since this Mac started: panic-full-2026-09-21-131320.0002.panic. The kernel reported: panic(cpu 4 caller 0x1): Kernel data abort. Its backtrace contains com.apple.iokit.IOThunderboltFamily. There are 2 panic reports on this Mac.',
    );
  });

  it('are ignored if they are older than this boot session or have no time', () => {
    // The Mac panicked and wrote the report after its boot; then a person restarted it.
    expect(told(seen(report({ atEpochSeconds: bootedAt - 300 })))).toEqual([]);
    const { atEpochSeconds: _, ...timeless } = report();
    expect(told(seen(timeless))).toEqual([]);
    expect(told(seen())).toEqual([]);
  });

  it('belong to this boot session even if FileVault delayed them for hours', () => {
    // A published case: panic at 01:35:28, report at 07:09.
    const late = report({ atEpochSeconds: bootedAt + 5 * 3_600 + 34 * 60 });
    const first = report({ atEpochSeconds: bootedAt, extensions: [] });
    expect([late, first].map((one) => told(seen(one)))).toEqual(
      [1, 2].map(() => ['notice macos/panicked node studio-3']),
    );
  });

  it('cause a single finding that shows the newest report and a minimum count', () => {
    const old = ['a', 'b', 'z'].map((name) => report({ name: `${name}.panic`, atEpochSeconds: bootedAt - 7_200 }));
    const [finding] = findingsOf(seen(report({ name: 'Kernel.panic' }), ...old));
    expect(finding?.detail).toContain('since this Mac started: Kernel.panic.');
    expect(finding?.detail).toMatch(/ There are at least 4 panic reports on this Mac\.$/);
  });

  it('cause a warning about TCP over cables if they name the IP over Thunderbolt driver', () => {
    const [finding] = findingsOf(seen(report({ extensions: ['a.b.Other', 'com.apple.driver.AppleThunderboltIP'] })));
    expect(finding).toMatchObject({ code: 'network/suspected-tcp-panic', severity: 'warning' });
    expect(finding?.hint).toContain('transport: rdma');
  });

  // mlx issue 3186, omlx issue 862
  it.each([
    '"completeMemory() prepare count underflow" @IOGPUMemory.cpp:550',
    '"IOGPUGroupMemory::remove_memory_object() memory object not found" @IOGPUGroupMemory.cpp:323',
  ])('cause a warning about GPU memory: %s', (text) => {
    const reason = `panic(cpu 7 caller 0xfffffe0000000000): ${text}`;
    const [finding] = findingsOf(seen(report({ reason, extensions: ['com.apple.iokit.IOGPUFamily'] })));
    expect(finding).toMatchObject({ code: 'macos/gpu-panic', severity: 'warning' });
    expect(finding?.detail).toContain(text);
    expect(finding?.hint).toContain('smaller context and fewer parallel requests');
  });
});

onOnePage('rules-panics');
