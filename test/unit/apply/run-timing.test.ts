import { describe, expect, it } from 'vitest';
import { realTiming, scaledTiming } from '../../../src/apply/run-timing.ts';
import { deadlineOf as deadlineOfItself } from '../../../src/apply/steps/context.ts';
import { scriptBody } from '../../../src/engine/scripts/registry.ts';
import { known } from '../../../src/model/known.ts';
import { drainMs } from '../../../src/rack/placement/mesh/gateway-steps.ts';
import { aStep, gateAct } from '../../rack/plans.ts';
import { onOnePage, onPage, sayValue } from '../one-page.ts';

const deadlineOf = onPage(deadlineOfItself);

describe('scaledTiming', () => {
  it('equals the timing of real Macs if the factor is 1', () => {
    expect(scaledTiming(1)).toEqual(sayValue(realTiming));
  });

  it.each([1, 0.5, 0.05, 0.001])('allows time for leases, rollbacks and slow ranks at factor %s', (factor) => {
    const timing = sayValue(scaledTiming(factor));
    const { heartbeatMs, leaseExpiryMs, leaseLookMs, rollbackAfterMs, gateStallMs, tokenStallMs } = timing;
    expect(leaseExpiryMs).toBeGreaterThanOrEqual(6 * heartbeatMs);
    expect(leaseLookMs).toBeLessThan(heartbeatMs);
    expect(rollbackAfterMs).toBeLessThan(leaseExpiryMs);
    expect(rollbackAfterMs).toBeGreaterThanOrEqual(15_000);
    expect(gateStallMs).toBeGreaterThanOrEqual(20_000);
    expect(tokenStallMs).toBeGreaterThanOrEqual(30_000);
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

  it('gives a script enough time for all checks between its sleeps', () => {
    const args = { port: 8_080, placement: 'chat', waitMs: drainMs };
    const act = { kind: 'script', name: 'drain-endpoint', args } as const;
    const text = scriptBody(act);
    const checks = Number(/^looks=(\d+)$/m.exec(text)?.[1]);
    const sleepMs = 1_000 * Number(/sleep" ([\d.]+)$/m.exec(text)?.[1]);
    const step = aStep('a', { deadlineMs: drainMs + 30_000, act });
    // Each check takes as long as a sleep on a busy computer.
    expect(deadlineOf(step, { timing: scaledTiming(0.05) })).toBeGreaterThanOrEqual(2 * checks * sleepMs);
  });
});

onOnePage('run-timing');
