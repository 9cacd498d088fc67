import { describe, expect, it } from 'vitest';
import type { FactName, FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import type { RdmaObject, RdmaPort } from '../../../../src/model/facts/rdma.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import { rankServiceLabel } from '../../../../src/node/paths/own-paths.ts';
import { hasOneLeft, isSpent, launchBudget } from '../../../../src/rack/rdma/launch-budget-reading.ts';
import { observedFleet } from '../../../rack/rack.ts';

const session = 'BOOT-studio-1';

function factsOf(values: Partial<FactValues>, unknown: Partial<Record<FactName, UnknownReason>> = {}): Facts {
  const { nodes } = observedFleet({ values: { 'studio-1': values }, unknown: { 'studio-1': unknown } });
  const facts = nodes['studio-1']?.facts;
  if (facts === undefined) throw new Error('the rack has no studio-1');
  return facts;
}

const starts = (count: number, startedIn = session): Partial<FactValues> => ({
  'rdma-starts': { startedIn, starts: count, last: [] },
});
const port = (maxQueuePairs: number, maxProtectionDomains: number): RdmaPort => ({
  device: 'rdma_en3',
  state: 'active',
  gids: [],
  maxQueuePairs,
  maxProtectionDomains,
});

describe('the launch budget', () => {
  it('is three starts if the devices report no limits', () => {
    expect(launchBudget(factsOf(starts(2)))).toEqual({
      kind: 'known',
      value: { taken: 2, limit: 3, isAssumed: true, isCounted: true },
    });
  });

  it.each([
    [11, 11, 10],
    [11, 3, 2],
    [3, 11, 2],
    [1, 1, 1],
  ])('derives from %s queue pairs and %s protection domains per device: %s starts', (pairs, domains, limit) => {
    expect(launchBudget(factsOf({ ...starts(1), 'rdma-ports': [port(pairs, domains)] }))).toEqual({
      kind: 'known',
      value: { taken: 1, limit, isAssumed: false, isCounted: true },
    });
  });

  it('is set by the device with the lowest limit', () => {
    const ports = [port(11, 11), { ...port(11, 3), device: 'rdma_en4' }];
    expect(launchBudget(factsOf({ ...starts(0), 'rdma-ports': ports }))).toMatchObject({ value: { limit: 2 } });
  });

  it("starts at zero in a new boot session, or at the rank record's count if the node's count is lost", () => {
    expect(launchBudget(factsOf(starts(3, 'BOOT-of-before')))).toMatchObject({ value: { taken: 0 } });
    expect(launchBudget(factsOf(starts(0, '')), 2)).toMatchObject({ value: { taken: 2 } });
    expect(launchBudget(factsOf(starts(3, 'BOOT-of-before')), 2)).toMatchObject({ value: { taken: 2 } });
  });

  it("uses the node's lower count after successful starts were returned to the budget", () => {
    expect(launchBudget(factsOf(starts(1)), 4)).toMatchObject({ value: { taken: 1 } });
  });

  it.each([
    [8, 1, false],
    [9, 1, true],
    [10, 1, false],
    [7, 2, true],
    [0, 10, false],
  ])('has one last start with %s of 10 used and %s per start: %s', (taken, takes, isLeft) => {
    expect(hasOneLeft({ taken, limit: 10, isAssumed: false, isCounted: true }, takes)).toBe(isLeft);
  });

  it('is unknown if a failed reading could hide that the budget is spent', () => {
    expect(launchBudget(factsOf(starts(3), { 'rdma-ports': 'busy' }))).toMatchObject({
      kind: 'unknown',
      reason: 'busy',
    });
    expect(launchBudget(factsOf(starts(2), { 'rdma-ports': 'busy' }))).toMatchObject({ value: { taken: 2 } });
    expect(launchBudget(factsOf(starts(3), { 'boot-session': 'failed' }))).toMatchObject({ reason: 'failed' });
    expect(launchBudget(factsOf(starts(0), { 'rdma-starts': 'garbled' }))).toMatchObject({ reason: 'garbled' });
  });

  it('is spent at its limit, or one start earlier if a start takes two and the limit counts objects', () => {
    const spent = (isAssumed: boolean, takes?: number): string =>
      [8, 9, 10].map((taken) => isSpent({ taken, limit: 10, isAssumed, isCounted: isAssumed }, takes)).join();
    expect([spent(false), spent(false, 2)]).toEqual(['false,false,true', 'false,true,true']);
    expect(spent(true, 2)).toBe('false,false,true');
  });

  describe("the launch budget from the kernel's RDMA objects", () => {
    const object = (kind: RdmaObject['kind']): RdmaObject => ({ kind, isActive: false, busy: 1 });
    const listed = (...devices: readonly (readonly RdmaObject[])[]): Partial<FactValues> => {
      const all = devices.flat();
      const domains = all.filter(({ kind }) => kind === 'domain').length;
      return {
        ...starts(99),
        'rdma-ports': [port(11, 11)],
        'rdma-objects': { domains, queuePairs: all.length - domains },
        'rdma-holders': {
          devices: devices.map((objects, at) => ({ device: `rdma_en${at + 3}`, objects })),
          processes: [],
        },
      };
    };

    it('uses the fullest device and ignores the start count', () => {
      const most = [object('domain'), object('domain'), object('queue-pair')];
      const budget = launchBudget(factsOf(listed([object('domain'), object('queue-pair')], most)));
      expect(budget).toEqual({ kind: 'known', value: { taken: 2, limit: 10, isAssumed: false, isCounted: false } });
    });

    it("needs neither the boot session nor the running rank's process", () => {
      const full = listed(Array.from({ length: 10 }, () => object('domain')));
      const services = [{ label: rankServiceLabel('kimi'), state: 'running' as const, pid: 4_711, runs: 1 }];
      const budget = launchBudget(factsOf({ ...full, services }, { 'boot-session': 'failed' }));
      expect(budget).toMatchObject({ value: { taken: 10, isCounted: false } });
    });

    it('is unused if the kernel lists no objects, whatever the start count', () => {
      expect(launchBudget(factsOf(listed([])))).toMatchObject({ value: { taken: 0, isCounted: false } });
    });

    it("falls back to the start count when the kernel's list is unknown or differs from its totals", () => {
      const totals = { 'rdma-objects': { domains: 1, queuePairs: 1 } };
      const counted = { value: { taken: 99, isCounted: true } };
      for (const objects of [[object('domain')], [object('queue-pair')]]) {
        const whole = listed(objects);
        expect(launchBudget(factsOf({ ...whole, ...totals }))).toMatchObject(counted);
        expect(launchBudget(factsOf(whole))).toMatchObject({ value: { taken: 1, isCounted: false } });
        expect(launchBudget(factsOf(whole, { 'rdma-holders': 'failed' }))).toMatchObject(counted);
      }
    });
  });
});
