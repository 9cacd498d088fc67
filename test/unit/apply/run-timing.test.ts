import { describe, expect, it } from 'vitest';
import { realTiming, scaledTiming } from '../../../src/apply/run-timing.ts';
import { deadlineOf as deadlineOfItself } from '../../../src/apply/steps/context.ts';
import { known } from '../../../src/model/known.ts';
import { aStep, gateAct } from '../../rack/plans.ts';
import { onOnePage, onPage } from '../one-page.ts';

const deadlineOf = onPage(deadlineOfItself);

describe('the times of a run', () => {
  it('are those of real Macs when nothing is scaled', () => {
    expect(scaledTiming(1)).toEqual(realTiming);
  });

  it('let a lease outlive several lost renewals, however fast the clocks are', () => {
    for (const factor of [1, 0.05, 0.001]) {
      const { beatMs, leaseExpiryMs, leaseLookMs } = scaledTiming(factor);
      expect(leaseExpiryMs).toBeGreaterThanOrEqual(6 * beatMs);
      expect(leaseLookMs).toBeLessThan(beatMs);
    }
  });

  it("let a node take a change back before its lease is nobody's, and not before it can be confirmed", () => {
    for (const factor of [1, 0.5, 0.05, 0.001]) {
      const { leaseExpiryMs, rollbackAfterMs } = scaledTiming(factor);
      expect(rollbackAfterMs).toBeLessThan(leaseExpiryMs);
      expect(rollbackAfterMs).toBeGreaterThanOrEqual(15_000);
    }
  });

  it('give ranks that make no progress as long as a slow computer may take to show any, however fast the clocks are', () => {
    for (const factor of [1, 0.05, 0.001]) {
      const { gateStallMs, tokenStallMs } = scaledTiming(factor);
      expect(gateStallMs).toBeGreaterThanOrEqual(20_000);
      expect(tokenStallMs).toBeGreaterThanOrEqual(30_000);
    }
  });

  it('become shorter where a Mac is waited for, and not below what this computer needs', () => {
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
