import { describe, expect, it } from 'vitest';
import { type Lane, type Miss, passToLane, spread } from '../../../../src/gateway/replicas/spread.ts';
import { makeTurns } from '../../../../src/gateway/replicas/turns.ts';

const never = new AbortController().signal;

/** The names of the replicas that were asked, in this order. */
const asked: string[] = [];

/** A replica with `busy` of `most` turns taken, which misses each request for this reason, or answers it. */
function lane(name: string, missed?: Miss['kind'], { most = 2, busy = 0, isReady = true } = {}) {
  const turns = makeTurns(most, 9);
  const taken = Array.from({ length: busy }, () => turns.take(never));
  const passed: Lane = {
    ...{ name, turns, most, isReady },
    take: async (signal) => (await turns.take(signal)) ?? { kind: 'full', reason: `${name} is full.` },
    pass: async () => {
      asked.push(name);
      return missed && { kind: missed, reason: `${name} is ${missed}.` };
    },
  };
  return { ...passed, taken };
}

/** The names of the replicas that were asked in their order, and the result. */
async function ask(...lanes: readonly ReturnType<typeof lane>[]) {
  asked.splice(0);
  const miss = await spread(lanes, never);
  expect(lanes.map(({ turns }) => turns.counts())).toEqual(
    lanes.map(({ taken }) => ({ running: taken.length, waiting: 0 })),
  );
  return [asked.join(' '), miss?.reason];
}

describe('a request that several replicas can answer', () => {
  it("goes to the replica with the smallest share of busy turns; a tie goes to the node's own replica", async () => {
    expect(await ask(lane('own'), lane('a'))).toEqual(['own', undefined]);
    const [own, a, b] = [2, 4, 3].map((most) => ({ most, busy: 1 }));
    const lanes = [lane('own', undefined, own), lane('a', undefined, a), lane('b', undefined, b)];
    expect(await ask(...lanes)).toEqual(['a', undefined]);
  });

  it('goes to a different replica than a request that arrives at the same time', async () => {
    asked.splice(0);
    const lanes = ['own', 'a'].map((name) => lane(name));
    await Promise.all([1, 2, 3].map(() => spread(lanes, never)));
    expect(asked).toEqual(['own', 'a', 'own']);
    asked.splice(0);
    await spread(lanes, never);
    expect(asked).toEqual(['own']);
  });

  it('goes to the next replica if one cannot take it; replicas that are not ready come last', async () => {
    const late = lane('a', undefined, { isReady: false });
    expect(await ask(lane('own', 'down'), late, lane('b', 'full'))).toEqual(['own b a', undefined]);
    expect(await ask(lane('own', 'down', { isReady: false }), late)).toEqual(['own a', undefined]);
    expect(await ask(lane('own', 'closed', { busy: 1 }), lane('a', 'closed'))).toEqual(['a own', 'own is closed.']);
  });

  it.each(['gone', 'leaving'] as const)('ends immediately if its client or gateway is %s', async (kind) => {
    expect(await ask(lane('own', kind), lane('a'))).toEqual(['own', `own is ${kind}.`]);
  });

  it.each([
    ['own is closed.', 'closed', 'closed'],
    ['a is full.', 'closed', 'full'],
    ['own is full.', 'full', 'down'],
    ['no replica answers: own: own is closed; a: a is down.', 'closed', 'down'],
  ] as const)('is refused with a single reason or with all reasons: %s', async (reason, own, other) => {
    expect(await ask(lane('own', own), lane('a', other))).toEqual(['own a', reason]);
  });

  it('waits for the first free turn if all replicas are busy, and then leaves the other queues', async () => {
    const [own, other] = [lane('own', 'down', { most: 1, busy: 1 }), lane('a', undefined, { most: 1, busy: 1 })];
    const answer = spread([own, other], never);
    await new Promise(setImmediate);
    expect([own, other].map(({ turns }) => turns.counts().waiting)).toEqual([1, 1]);
    const [turn] = await Promise.all(other.taken);
    turn?.giveBack();
    expect(await answer).toBeUndefined();
    expect(own.turns.counts()).toEqual({ running: 1, waiting: 0 });
    expect(other.turns.counts()).toEqual({ running: 0, waiting: 0 });
    const full = { kind: 'full', reason: 'own is full.' };
    expect(await spread([own], AbortSignal.abort())).toEqual(full);
    expect(await passToLane(own, AbortSignal.abort())).toEqual(full);
  });
});
