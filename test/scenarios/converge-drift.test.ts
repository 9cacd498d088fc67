import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../src/resources/registry.ts';
import { viewOf } from '../../src/resources/view.ts';
import { type Drift, drifts, handOn } from './converge-drifts.ts';
import { first, second } from './converge-file.ts';
import { hindrances } from './converge-hindrances.ts';
import { type ConvergeRack, changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';

const isFull = process.env['MESHWRIGHT_FULL'] === '1';

/** Converged, and made anew after a drift that was not healed, so that each tells of itself only. */
let rack: ConvergeRack;
let isHealed = true;
async function start(): Promise<void> {
  rack = await startConvergeRack('drift');
  await rack.converge();
}
beforeAll(start);
afterAll(() => rack.stop());

/** An address with `*` for numbers of receptacles and names of the file. */
const pattern = (address: string): string => address.replaceAll(/\/(?:\d+|reference|tiny|chat)(?=\/|$)/g, '/*');

/** What is to be changed after these drifts on a node, as patterns; what a placement is, its leader tells. */
const expected = (node: string, made: readonly Drift[]): readonly string[] => {
  const on = (address: string): string => `${address === 'placement/*' ? first : node} ${address}`;
  return [...new Set(made.flatMap((one) => [one.of, ...(one.with ?? [])].map(on)))].sort();
};

async function ready(): Promise<void> {
  if (!isHealed) {
    await rack.stop().catch(() => undefined);
    await start();
  }
  isHealed = false;
}

const drift = (node: string, made: readonly Drift[]): Promise<void> =>
  rack.behindOurBack(async (fleet) => {
    const hand = await handOn(rack, fleet, node);
    for (const one of made) await one.make(hand);
  });

async function driftAndHeal(node: string, made: readonly Drift[]): Promise<void> {
  await ready();
  await drift(node, made);
  const { plan } = await rack.converge();
  expect([...new Set(changesIn(plan).map(pattern))].sort()).toEqual(expected(node, made));
  expect([plan.waiting, plan.blockers]).toEqual([[], []]);
  isHealed = true;
}

describe('drift', { timeout: patience }, () => {
  it('has a way to be made for every property of every resource', async () => {
    const desired = rack.desired();
    const targets = desired.nodes.map(({ name }) => name);
    const view = viewOf({ desired, observation: await rack.observe(), targets });
    const kept = resources.map((resource) => ({ kind: resource.kind, properties: resource.properties(view) }));
    const addresses = kept.flatMap(({ properties }) => properties.map(({ address }) => pattern(address)));
    const made = new Set(drifts.map(({ of }) => of));
    expect([...new Set(addresses)].filter((one) => !made.has(one))).toEqual([]);
    expect([...made].filter((one) => !addresses.includes(one))).toEqual([]);
    const others = kept.filter(({ properties }) => properties.length === 0).map(({ kind }) => kind);
    expect(others.filter((kind) => hindrances.every(({ of }) => of !== kind))).toEqual([]);
  });

  it.each(['settings', 'files', 'ranks'])('is seen and healed, all of its %s at once', async (batch) => {
    await driftAndHeal(
      second,
      drifts.filter((one) => one.batch === batch),
    );
  });

  it.each(hindrances)('of $of is for others to mend: $fault', async (one) => {
    await ready();
    await drift(
      second,
      drifts.filter(({ of }) => of === one.beside),
    );
    await rack.behindOurBack((fleet) => fleet.setFault(one.fault));
    const { plan, report } = await rack.apply();
    const waiting = plan.waiting.map(({ node, resource }) => `${node} ${pattern(resource)}`);
    expect([changesIn(plan), plan.blockers.map(({ code }) => code)]).toEqual([[], one.blockers]);
    expect(waiting.sort()).toEqual([...one.waiting].sort());
    expect([plan.effects, report?.steps.filter(({ outcome }) => outcome !== 'blocked') ?? []]).toEqual([[], []]);
    await rack.behindOurBack(async (fleet) => {
      if (one.isForHands) await fleet.hands();
      else await fleet.clearFault(one.fault);
    });
    const mended = await rack.converge();
    expect(changesIn(mended.plan).map(pattern).sort()).toEqual([...(one.afterwards ?? [])].sort());
    isHealed = true;
  });

  const single = [first, second].flatMap((node) => drifts.map((one) => ({ ...one, one, node })));
  /** launchd keeps what it has loaded: the leader has to be seen without its file. */
  const isLost = (one: (typeof single)[number]): boolean => one.what === 'a service file is gone' && one.node === first;
  const sample = fc.sample(fc.constantFrom(...single), { seed: 20_261_120, numRuns: 1 });
  const chosen = isFull ? single : [...single.filter(isLost), ...sample];
  it.each(chosen)('is seen and healed on $node: $of, $what', async ({ one, node }) => {
    await driftAndHeal(node, [one]);
  });

  it('is not there any more', async () => {
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});
