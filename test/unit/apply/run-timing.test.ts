import { describe, expect, it } from 'vitest';
import { realTiming, scaledTiming } from '../../../src/apply/run-timing.ts';
import { deadlineOf as deadlineOfItself } from '../../../src/apply/steps/context.ts';
import { known } from '../../../src/model/known.ts';
import { aStep, gateAct } from '../../rack/plans.ts';
import { onOnePage, onPage } from '../one-page.ts';

const deadlineOf = onPage(deadlineOfItself);

describe('scaledTiming', () => {
  it('has the times of real Macs at factor 1', () => {
    expect(scaledTiming(1)).toEqual(realTiming);
    expect(realTiming).toEqual({
      heartbeatMs: 5_000,
      leaseExpiryMs: 30_000,
      rollbackAfterMs: 20_000,
      busyMs: 120_000,
      leaseLookMs: 2_000,
      gatePollMs: 1_000,
      jobPollMs: 1_000,
      retryMs: 2_000,
      rebootPausesMs: [5_000, 7_000, 10_000, 15_000],
      rebootDelaySeconds: 2,
      unlockPauseMs: 15_000,
      unlockReturnMs: 600_000,
      abortMs: 10_000,
      gateStallMs: 120_000,
      tokenStallMs: 300_000,
      scale: 1,
      talkScale: 1,
    });
  });

  it('keeps leases longer than several lost renewals at any factor', () => {
    for (const factor of [1, 0.05, 0.001]) {
      const { heartbeatMs, leaseExpiryMs, leaseLookMs } = scaledTiming(factor);
      expect(leaseExpiryMs).toBeGreaterThanOrEqual(6 * heartbeatMs);
      expect(leaseLookMs).toBeLessThan(heartbeatMs);
    }
  });

  it('rolls back before the lease expires but leaves time to confirm', () => {
    for (const factor of [1, 0.5, 0.05, 0.001]) {
      const { leaseExpiryMs, rollbackAfterMs } = scaledTiming(factor);
      expect(rollbackAfterMs).toBeLessThan(leaseExpiryMs);
      expect(rollbackAfterMs).toBeGreaterThanOrEqual(15_000);
    }
  });

  it('gives ranks enough time to show progress on a slow computer at any factor', () => {
    for (const factor of [1, 0.05, 0.001]) {
      const { gateStallMs, tokenStallMs } = scaledTiming(factor);
      expect(gateStallMs).toBeGreaterThanOrEqual(20_000);
      expect(tokenStallMs).toBeGreaterThanOrEqual(30_000);
    }
  });

  it('shortens deadlines, but not below what this computer needs', () => {
    const timing = scaledTiming(0.05);
    const script = aStep('a', { deadlineMs: 60_000 });
    const gate = aStep('b', { deadlineMs: 600_000, act: gateAct });
    const reboot = aStep('c', { deadlineMs: 1_200_000, act: { kind: 'reboot', to: 'up', from: known('B0') } });
    expect([script, gate, reboot].map((step) => deadlineOf(step, { timing }))).toEqual([30_000, 30_000, 60_000]);
    const short = aStep('d', { deadlineMs: 400, act: gateAct });
    expect(deadlineOf(short, { timing })).toBe(400);
  });
});

onOnePage('run-timing');
