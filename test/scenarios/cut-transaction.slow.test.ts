import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../src/apply/journal/journal.ts';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { NetworkCall } from '../../src/model/node-script.ts';
import { shared } from '../rack/kept-running.ts';
import { keptJournal, planOf, quickTiming, runOptions, startApplyRack } from './apply-rack.ts';
import { codes, cuttingProxies, outcomes } from './apply-steps.ts';
import { runKeys } from './kill/record-keys.ts';
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
  shortRollback,
  transaction,
} from './transaction-steps.ts';

const proxied = cuttingProxies();
const rack = shared(() => startApplyRack('cut transactions'));

const changes: readonly (readonly [string, NetworkCall])[] = [
  ["setting a service's address", addressChange('10.77.0.9')],
  ['removing an address', clearing],
];

/** The scripts of a run, recognized by their contents. */
const scripts: readonly (readonly [key: string, is: (input: string) => boolean])[] = [
  ['exec lease taken', (input) => input.includes('@taken')],
  ['exec lease renewed', (input) => input.includes('@renewed')],
  ['exec lease released', (input) => input.includes('@released')],
  ['exec confirmation', isConfirmation],
  ['exec change', isChange],
];

interface Trial {
  readonly node: string;
  readonly call: NetworkCall;
  /** Receives every instant: a script that arrived and is not yet answered, or a record that is about to be written. */
  readonly onInstant: (key: string) => unknown;
  readonly more?: Parameters<typeof runOptions>[1];
}

async function runOnce({ node, call, onInstant, more }: Trial): Promise<RunReport> {
  const end = rack.fleet.onExec(async (exec) => {
    if (exec.node !== node) return;
    const key = scripts.find(([, is]) => is(exec.input))?.[0];
    await onInstant(key ?? `exec of nothing known: ${exec.input}`);
  });
  const keys = runKeys();
  const nameOf = (entry: JournalEntry): string => keys.record(entry).replace(` on ${node}`, '');
  const journal = keptJournal(undefined, (entry) => void onInstant(`record ${nameOf(entry)}`));
  const options = runOptions(rack, { timing: shortRollback, deadlineMs: observeMs, journal, ...more });
  try {
    return await runPlan(planOf([transaction('change', node, call)]), options);
  } finally {
    end();
  }
}

/** Every instant of an undisturbed run, in order, and the network after it. */
async function rehearse(node: string, call: NetworkCall) {
  const before = await beginChange(rack, node, call);
  const instants = new Set<string>();
  const report = await runOnce({ node, call, onInstant: (key) => instants.add(key), more: { timing: quickTiming } });
  expect([outcomes(report), report.diagnostics]).toEqual([{ change: 'changed' }, []]);
  return { before, after: await networkOf(rack, node), instants: [...instants] };
}

type Rehearsal = Awaited<ReturnType<typeof rehearse>>;

/** Points in the order of a run. A heartbeat can come at any time. */
const allInstants = [
  'record 0 run',
  'record 1 plan',
  'exec lease taken',
  'record 1 lease taken',
  'record 1 intent of change',
  'exec change',
  'exec confirmation',
  'record 1 outcome of change',
  'exec lease released',
  'record 1 lease released',
  'record 1 end',
];
const heartbeat = 'exec lease renewed';

/** True if a change that was confirmed in time stays after a cut at this instant. */
const isConfirmed = (instant: string): boolean =>
  allInstants.indexOf(instant) >= allInstants.indexOf('exec confirmation');

/** The result of a cut at this instant. */
async function cutAt(instant: string, node: string, call: NetworkCall, { before, after }: Rehearsal) {
  expect(await beginChange(rack, node, call)).toBe(before);
  const { proxy, ways } = await proxied(rack, node);
  let isCut = false;
  const onInstant = async (key: string): Promise<void> => {
    if (isCut || key !== instant) return;
    isCut = true;
    await proxy.vanish();
  };
  const timing = isConfirmed(instant) ? confirmable : shortRollback;
  const report = await runOnce({ node, call, onInstant, more: { ways, timing } });
  const isQuiet = await isSettled(rack, node);
  const now = await networkOf(rack, node);
  const again = await runOnce({ node, call, onInstant: () => undefined, more: { timing: quickTiming } });
  return {
    instant,
    isCut,
    isQuiet,
    isKept: now === after,
    isWhole: now === before || now === after,
    outcome: outcomes(report)['change'],
    again: [outcomes(again)['change'], ...codes(again)],
    isConverged: (await networkOf(rack, node)) === after,
  };
}

/**
 * Once confirmed, a change is kept. Until then, the node rolls the change back, and no run reports the change as made.
 */
function expected(instant: string, wasKept: boolean) {
  const isKept = instant === heartbeat ? wasKept : isConfirmed(instant);
  const outcome = isKept
    ? expect.stringMatching(/^(changed|unknown)$/)
    : expect.stringMatching(/^(skipped|failed|unknown)$/);
  const again = [isKept ? 'unchanged' : 'changed'];
  return { instant, isCut: true, isQuiet: true, isKept, isWhole: true, outcome, again, isConverged: true };
}

describe('a node cut off at any moment during a network change', () => {
  it.each(changes)('is intact, reachable and able to converge after %s', { timeout: 300_000 }, async (_, call) => {
    const nodes = rack.desired.nodes.map(({ name }) => name);
    // Each node tries different instants, because a rollback takes most of the time.
    const tries = nodes.map(async (node, at) => {
      const rehearsal = await rehearse(node, call);
      expect(rehearsal.instants.filter((one) => one !== heartbeat)).toEqual(allInstants);
      const results = [];
      for (const instant of [...allInstants, heartbeat].filter((_one, nth) => nth % nodes.length === at)) {
        results.push(await cutAt(instant, node, call, rehearsal));
      }
      return results;
    });
    const results = (await Promise.all(tries)).flat();
    expect(results).toEqual(results.map(({ instant, isKept }) => expected(instant, isKept)));
    expect(results).toHaveLength(allInstants.length + 1);
  });
});
