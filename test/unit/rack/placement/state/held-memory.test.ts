import { describe, expect, it } from 'vitest';
import { addressTowards } from '../../../../../src/drivers/contract/addresses.ts';
import type { NodeFit } from '../../../../../src/model/fit.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import {
  type HeldMemory,
  heldMemory as heldMemoryItself,
  isAsPredicted,
} from '../../../../../src/rack/placement/check/placement-survey.ts';
import { meshFleet } from '../../../../rack/placements.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const heldMemory = onPage(heldMemoryItself);

const fleet = meshFleet({});
const leader = nodeName('studio-1');
const worker = nodeName('studio-2');
const placement = { name: 'kimi', nodes: [leader, worker] };
const address = addressTowards(fleet.thunderbolt, worker, leader) ?? '';
const bytes = (weights: number) => ({ weights, cache: 1_000, compute: 5 });

function fitOf(node: typeof leader, rank: number, weights: number): NodeFit {
  const need = { weights, cache: 1_000, compute: 9, promptCache: 0, loading: 0, process: 0, total: weights };
  const other = { placement: 'chat', rank, need: { ...need, weights: 1 } };
  return { node, shares: [other, { placement: 'kimi', rank, need }], unknown: [], needBytes: weights };
}

describe('the measured model memory per node', () => {
  it('is listed in rank order, matched by worker address, next to the prediction', () => {
    const held = [{ address, ...bytes(7) }, bytes(3), { address: '192.0.2.1', ...bytes(8) }];
    expect(heldMemory({ placement, held }, fleet, [fitOf(worker, 1, 6)])).toEqual([
      { node: leader, held: bytes(3) },
      { node: worker, held: bytes(7), predicted: { weights: 6, cache: 1_000 } },
    ]);
  });

  it('omits a worker with an unknown address', () => {
    const unaddressed = { thunderbolt: { ...fleet.thunderbolt, networks: {} } };
    expect(heldMemory({ placement, held: [bytes(3)] }, unaddressed, [])).toEqual([{ node: leader, held: bytes(3) }]);
  });

  it("matches the prediction within the log's precision", () => {
    const one = (weights: number, cache = 1_000): HeldMemory => ({
      node: nodeName('studio-1'),
      held: { ...bytes(weights), cache },
      predicted: { weights: 7_000_000, cache: 1_000 },
    });
    const near = [one(7_000_000), one(7_065_536), one(6_934_464), one(7_000_000, 66_536)];
    const far = [one(7_065_537), one(6_934_463), one(7_000_000, 66_537)];
    expect([...near, ...far].map(isAsPredicted)).toEqual([true, true, true, true, false, false, false]);
    const { predicted: _, ...blind } = one(7_000_000);
    expect(isAsPredicted(blind)).toBe(false);
  });
});

onOnePage('held-memory');
