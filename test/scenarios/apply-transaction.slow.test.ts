import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import { realTiming } from '../../src/apply/run-timing.ts';
import type { NetworkCall } from '../../src/model/node-script.ts';
import type { Step } from '../../src/model/step.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { eventually, sh } from '../rack/running.ts';
import { sampleOf } from '../sample.ts';
import { asText } from '../unit/as-text.ts';
import { keptJournal, planOf, quickTiming, runOptions, setClock, startApplyRack, tenYears } from './apply-rack.ts';
import { codes, cuttingProxies, historyFile, outcomes, sleepAfter } from './apply-steps.ts';
import type { CuttingProxy } from './cutting-proxy.ts';
import { runPlan } from './run-plan.ts';
import {
  addressChange,
  beginChange,
  clearing,
  confirmable,
  isChange,
  isConfirmation,
  isSettled,
  networkOf,
  observeMs,
  order,
  pendingFile,
  removal,
  shortRollback,
  transaction,
} from './transaction-steps.ts';

const node = 'studio-1';
const proxied = cuttingProxies();
const rack = shared(() => startApplyRack('transactions'));
beforeAll(async () => {
  setClock(rack, node, -tenYears);
});

const other = addressChange('10.77.0.9');

const changes: readonly (readonly [string, NetworkCall])[] = [
  ['removing the bridge', removal],
  ["setting a service's address", other],
  ["setting a newly created service's address", addressChange('10.77.0.13', 'Cable 2')],
  ['removing an address', clearing],
  ['ordering the services', order],
];

const begin = (call: NetworkCall): Promise<string> => beginChange(rack, node, call);

/** Runs one change, with callbacks after its first half and for each script that arrives. */
async function runChange(
  call: NetworkCall,
  hooks: { readonly onMade?: () => void; readonly onScript?: (input: string) => unknown } = {},
  more: Parameters<typeof runOptions>[1] = {},
): Promise<RunReport> {
  const end = rack.fleet.onExec(async ({ input }) => void (await hooks.onScript?.(input)));
  const plan = planOf([transaction('change', node, call)]);
  const onEvent = ({ kind }: { readonly kind: string }): void => {
    if (kind === 'step-progress') hooks.onMade?.();
  };
  const report = await runPlan(
    plan,
    runOptions(rack, { timing: shortRollback, deadlineMs: observeMs, onEvent, ...more }),
  );
  end();
  return report;
}

/** Makes the change, loses the node as a result, and is interrupted after one failed attempt to reach the node. */
function abandonChange(proxy: CuttingProxy, more: Parameters<typeof runOptions>[1]): Promise<RunReport> {
  const person = new AbortController();
  let made = 0;
  const onMade = (): void => {
    made += 1;
    if (made === 1) void proxy.vanish();
    else person.abort();
  };
  return runChange(other, { onMade }, { ...more, signal: person.signal });
}

describe('a network change', () => {
  it.each(changes)('is confirmed once for %s, over a new connection', async (_, call) => {
    const before = await begin(call);
    const { proxy, ways } = await proxied(rack, node);
    const report = await runChange(call, {}, { ways, timing: quickTiming });
    expect([outcomes(report), report.diagnostics]).toEqual([{ change: 'changed' }, []]);
    expect(proxy.counts.connections).toBe(2);
    const after = await networkOf(rack, node);
    expect(after).not.toBe(before);
    expect(await isSettled(rack, node)).toBe(true);
    const again = await runChange(call, {}, { ways: (await proxied(rack, node)).ways });
    expect([outcomes(again), again.diagnostics]).toEqual([{ change: 'unchanged' }, []]);
    expect([await networkOf(rack, node), await isSettled(rack, node)]).toEqual([after, true]);
  });

  it('does not start if its rollback cannot be armed', async () => {
    const before = await begin(other);
    const plist = `${rack.fleet.nodes[node]?.root ?? ''}/Library/LaunchDaemons/dev.meshwright.transaction.plist`;
    // A folder with contents at the path of the property list, which no write can replace.
    await mkdir(join(plist, 'odd'), { recursive: true });
    const report = await runChange(other);
    await rm(plist, { recursive: true });
    expect(outcomes(report)).toEqual({ change: 'failed' });
    expect([await networkOf(rack, node), await isSettled(rack, node)]).toEqual([before, true]);
  });

  it('is rolled back immediately when it fails halfway', async () => {
    const before = await begin(other);
    const call: NetworkCall = { ...other, args: { ...other.args, service: 'Odd', hardwarePort: 'No such port' } };
    const report = await runChange(call);
    expect(outcomes(report)).toEqual({ change: 'failed' });
    expect(report.diagnostics.map(asText)[0]?.detail).toMatch(/No such port is not a recognized hardware port/);
    expect([await networkOf(rack, node), await isSettled(rack, node)]).toEqual([before, true]);
  });
});

describe('a node that loses its connection while its clock is ten years behind', () => {
  /** The moment and kind of the cut, and whether the node may end up before or after the change. */
  const cuts: readonly (readonly [
    string,
    (proxy: CuttingProxy) => Parameters<typeof runChange>[1],
    'before' | 'after',
  ])[] = [
    [
      'while the change is made',
      (proxy) => ({ onScript: (input) => isChange(input) && void proxy.vanish() }),
      'before',
    ],
    ['once the change is made', (proxy) => ({ onMade: () => void proxy.vanish() }), 'before'],
    [
      'while the confirmation arrives',
      (proxy) => ({ onScript: (input) => isConfirmation(input) && void proxy.vanish() }),
      'after',
    ],
  ];
  // `cut-transaction.slow.test.ts` cuts the other two changes at every instant.
  const others = changes.filter(([, call]) => call !== other && call !== clearing);
  const all = others.flatMap(([what, call]) => cuts.map(([when, cut, end]) => [what, when, call, cut, end] as const));

  const tried = sampleOf(all, { few: 3, oneIn: 12 });
  it.each(tried)('is intact and reachable after the deadline (%s, %s)', async (_what, _when, call, cut, end) => {
    const before = await begin(call);
    const { proxy, ways } = await proxied(rack, node);
    const timing = end === 'before' ? shortRollback : confirmable;
    const report = await runChange(call, cut(proxy), { ways, timing });
    expect([outcomes(report), codes(report)]).toEqual([{ change: 'unknown' }, ['step/unconfirmed']]);
    expect(await isSettled(rack, node)).toBe(true);
    const now = await networkOf(rack, node);
    expect(now === before).toBe(end === 'before');
    const again = await runChange(call, {}, { timing: quickTiming });
    expect([outcomes(again), again.diagnostics]).toEqual([{ change: end === 'before' ? 'changed' : 'unchanged' }, []]);
  });

  it('is asked again after a brief disconnect, and keeps a confirmed change', async () => {
    await begin(other);
    const { proxy, ways } = await proxied(rack, node);
    let isCut = false;
    const onScript = (input: string): void => {
      if (isConfirmation(input) && !isCut) proxy.cut();
      isCut ||= isConfirmation(input);
    };
    const report = await runChange(other, { onScript }, { ways, timing: quickTiming });
    expect([outcomes(report), isCut]).toEqual([{ change: 'changed' }, true]);
    expect(await networkOf(rack, node)).toMatch(/inet 10\.77\.0\.9 /);
  });

  it('reports and records its rollback if it was unreachable until then', async () => {
    const before = await begin(other);
    const back = async (): Promise<void> => {
      await isSettled(rack, node);
      await rack.fleet.clearFault(['wrong-host-key', node]);
    };
    // This happens before the run learns that the change was made.
    const onScript = async (input: string): Promise<void> => {
      if (!isChange(input)) return;
      await rack.fleet.setFault(['wrong-host-key', node]);
      void eventually(() => rack.read(node, pendingFile) !== undefined).then(back);
    };
    const report = await runChange(other, { onScript }, { deadlineMs: 20_000 });
    expect([outcomes(report), codes(report)]).toEqual([{ change: 'failed' }, ['step/rolled-back']]);
    expect(await networkOf(rack, node)).toBe(before);
    expect(rack.read(node, historyFile)?.trimEnd().split('\n').slice(-3)).toEqual([
      expect.stringMatching(/ step=change .* result=changed$/),
      expect.stringMatching(/ step=change .* result=rolled-back$/),
      expect.stringMatching(/ step=change .* result=failed$/),
    ]);
  });

  it('refuses other changes until an abandoned change is settled', async () => {
    const before = await begin(other);
    const { proxy, ways } = await proxied(rack, node);
    const timing = { ...quickTiming, rollbackAfterMs: 600_000 };
    await abandonChange(proxy, { ways, journal: keptJournal('run-left'), timing });
    const refused = await runPlan(planOf([sleepAfter('power', node)]), runOptions(rack));
    expect([outcomes(refused), codes(refused)]).toEqual([{ power: 'failed' }, ['step/transaction-pending']]);
    expect(refused.diagnostics.map(asText)[0]?.detail).toMatch(
      /run run-left changed the network and has not confirmed it/,
    );
    const another = await runChange(clearing);
    expect([outcomes(another), codes(another)]).toEqual([{ change: 'failed' }, ['step/transaction-pending']]);
    const settle = (run: string): Step =>
      aStep('settle', { node, act: { kind: 'script', name: 'settle-transaction', args: { run } } });
    const [wrong, right] = [settle('run-other'), settle('run-left')];
    expect(outcomes(await runPlan(planOf([wrong]), runOptions(rack)))).toEqual({ settle: 'unchanged' });
    expect(outcomes(await runPlan(planOf([right]), runOptions(rack)))).toEqual({ settle: 'changed' });
    expect([await networkOf(rack, node), await isSettled(rack, node)]).toEqual([before, true]);
    expect(outcomes(await runPlan(planOf([right]), runOptions(rack)))).toEqual({ settle: 'unchanged' });
    expect(outcomes(await runPlan(planOf([sleepAfter('power', node)]), runOptions(rack)))).toEqual({
      power: 'changed',
    });
  });

  it('rolls back an abandoned change at its next boot, long before the deadline', async () => {
    const before = await begin(other);
    const { proxy, ways } = await proxied(rack, node);
    const timing = { ...realTiming, rollbackAfterMs: 600_000, retryMs: 20 };
    const report = await abandonChange(proxy, { ways, timing });
    expect(outcomes(report)).toEqual({ change: 'unknown' });
    expect(rack.read(node, pendingFile)).toMatch(/^step=change$/m);
    expect(await networkOf(rack, node)).not.toBe(before);
    await sh(rack.fleet, node, '"$R/sbin/shutdown" -r now');
    expect(await eventually(() => rack.fleet.power()[node] !== 'up')).toBe(true);
    expect(await eventually(() => rack.fleet.power()[node] === 'up')).toBe(true);
    expect(await isSettled(rack, node)).toBe(true);
    expect(await networkOf(rack, node)).toBe(before);
  });
});

describe('a rollback at the same time as a confirmation', () => {
  it.each([1, 100, 200, 300, 400])('ends in the state that the run reports, after %i ms', async (rollbackAfterMs) => {
    const before = await begin(clearing);
    const report = await runChange(clearing, {}, { timing: { ...quickTiming, rollbackAfterMs } });
    expect(await isSettled(rack, node)).toBe(true);
    const isBefore = (await networkOf(rack, node)) === before;
    const outcome = outcomes(report)['change'];
    expect([outcome, isBefore]).toEqual(isBefore ? ['failed', true] : ['changed', false]);
    expect(codes(report)).toEqual(isBefore ? ['step/rolled-back'] : []);
  });
});
