import { describe, expect, it } from 'vitest';
import { scaledTiming } from '../../../../src/apply/run-timing.ts';
import { scaledCall } from '../../../../src/apply/steps/context.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import type { SeenRank } from '../../../../src/rack/placement/mesh/rank-states.ts';
import {
  rescueMesh as rescueMeshItself,
  stopRanks as stopRanksItself,
} from '../../../../src/rack/placement/mesh/stop-mesh.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const rescueMesh = onPage(rescueMeshItself);
const stopRanks = onPage(stopRanksItself);

const node = nodeName('studio-1');
const seen: SeenRank = {
  state: 'joined',
  mayRun: true,
  starts: known(1),
  budget: known({ taken: 0, limit: 3, isAssumed: true, isCounted: true }),
};
const work = { placement: 'kimi', nodes: [node], changes: ['x'] };
const argsOf = (steps: readonly Step[]) =>
  steps.map(({ act }) => (act.kind === 'script' && act.name === 'stop-rank' ? act.args : undefined));

describe("a driver's stop sequence", () => {
  it('starts with TERM unless the driver wants INT first', () => {
    const terms = { isAnswering: true, seconds: 0, needs: [] };
    expect(argsOf(stopRanks(() => work, [{ node, seen }], terms))).toEqual([{ placement: 'kimi', graceMs: 10_000 }]);
    const polite = { ...work, interruptMs: 10_000 };
    expect(argsOf(stopRanks(() => polite, [{ node, seen }], terms))).toEqual([
      { placement: 'kimi', graceMs: 10_000, interruptMs: 10_000 },
    ]);
  });

  it('waits no longer after INT than after TERM for ranks that do not answer', () => {
    const polite = { ...work, interruptMs: 10_000 };
    const terms = { isAnswering: false, seconds: 0, needs: [] };
    const short = { placement: 'kimi', graceMs: 2_000, interruptMs: 2_000 };
    expect(argsOf(stopRanks(() => polite, [{ node, seen }], terms))).toEqual([short]);
    expect(argsOf(rescueMesh(polite))).toEqual([{ ...short, outcome: 'failed' }]);
  });
});

describe('RC6: a rank over RDMA', () => {
  const overRdma = { ...work, isOverRdma: true as const };
  const terms = { isAnswering: false, seconds: 0, needs: [] };

  it('has three minutes after TERM, because KILL may cost a reboot', () => {
    const [stop] = stopRanks(() => overRdma, [{ node, seen }], terms);
    expect(argsOf(stop === undefined ? [] : [stop])).toEqual([
      { placement: 'kimi', graceMs: 2_000, patienceMs: 180_000 },
    ]);
    expect(stop?.deadlineMs).toBeGreaterThan(180_000);
  });

  it('has less time before a reboot of its Mac, which frees everything, and after a start that failed', () => {
    const stops = stopRanks(() => overRdma, [{ node, seen }], { ...terms, restarting: [node] });
    expect(argsOf(stops)).toEqual([{ placement: 'kimi', graceMs: 2_000, beforeReboot: true }]);
    expect(argsOf(rescueMesh(overRdma))).toEqual([{ placement: 'kimi', graceMs: 2_000, outcome: 'failed' }]);
  });

  it('has less time on a Mac with a faster, simulated clock', () => {
    const call = { name: 'stop-rank', args: { placement: 'kimi', graceMs: 2_000, patienceMs: 180_000 } } as const;
    expect(scaledCall(call, scaledTiming(0.01))).toEqual({ ...call, args: { ...call.args, patienceMs: 1_800 } });
    expect(scaledCall(call, scaledTiming(1))).toEqual(call);
  });
});

onOnePage('stop-mesh');
