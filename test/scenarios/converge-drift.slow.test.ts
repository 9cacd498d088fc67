import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { viewOf } from '../../src/engine/plan/view.ts';
import { resources } from '../../src/engine/resources.ts';
import { isThorough, sampleOf } from '../sample.ts';
import { type DriftingRack, patternOf, startDriftingRack } from './converge-drifting.ts';
import { drifts } from './converge-drifts.ts';
import { first, second } from './converge-file.ts';
import type { Drift } from './converge-hand.ts';
import { hindrances } from './converge-hindrances.ts';
import { changesIn, leftIn, patience } from './converge-rack.ts';

/**
 * Kinds without drift here. `gateway-fleet.slow.test.ts` drifts the gateway, which only a leader has. A hold is set by
 * commands, not by the file.
 */
const driftedElsewhere: readonly string[] = ['gateway', 'hold'];

let drifting: DriftingRack;
beforeAll(async () => {
  drifting = await startDriftingRack('drift');
});
afterAll(() => drifting.stop());

/** The expected changes after these drifts on a node, as patterns. The leader reports a placement's changes. */
const expected = (node: string, made: readonly Drift[]): readonly string[] => {
  const on = (address: string): string => `${address === 'placement/*' ? first : node} ${address}`;
  return [...new Set(made.flatMap((one) => [one.of, ...(one.with ?? [])].map(on)))].sort();
};

async function driftAndHeal(node: string, made: readonly Drift[]): Promise<void> {
  await drifting.ready();
  await drifting.drift(node, made);
  const { plan } = await drifting.rack().converge();
  expect([...new Set(changesIn(plan).map(patternOf))].sort()).toEqual(expected(node, made));
  expect([plan.waiting, plan.blockers]).toEqual([[], []]);
  drifting.healed();
}

describe('drift', { timeout: patience }, () => {
  it('is defined for every property of every resource', async () => {
    const desired = drifting.rack().desired();
    const targets = desired.nodes.map(({ name }) => name);
    const view = viewOf({ desired, observation: await drifting.rack().observe(), targets });
    const kept = resources.map((resource) => ({ kind: resource.kind, properties: resource.properties(view) }));
    const addresses = kept.flatMap(({ properties }) => properties.map(({ address }) => patternOf(address)));
    const made = new Set(drifts.map(({ of }) => of));
    expect([...new Set(addresses)].filter((one) => !made.has(one))).toEqual([]);
    expect([...made].filter((one) => !addresses.includes(one))).toEqual([]);
    const others = kept.filter(({ properties }) => properties.length === 0).map(({ kind }) => kind);
    const unmade = others.filter((kind) => hindrances.every(({ of }) => of !== kind));
    expect(unmade.filter((kind) => !driftedElsewhere.includes(kind))).toEqual([]);
  });

  const batches = isThorough ? ['settings', 'files', 'ranks'] : ['ranks'];
  it.each(batches)('is observed and repaired when all drifts of %s occur together', async (batch) => {
    await driftAndHeal(
      second,
      drifts.filter((one) => one.batch === batch),
    );
  });

  const single = [first, second].flatMap((node) => drifts.map((one) => [node, one.of, one.what, one] as const));
  it.each(sampleOf(single, { few: 1, oneIn: 24 }))(
    'is observed and repaired on %s: %s, %s',
    async (node, _of, _what, one) => {
      await driftAndHeal(node, [one]);
    },
  );

  it('leaves nothing to change once it is repaired', async () => {
    expect(leftIn(await drifting.rack().plan())).toEqual([]);
  });
});
