import { describe, expect, it } from 'vitest';
import { makeTurns } from '../../../../src/gateway/replicas/turns.ts';

const never = new AbortController().signal;

describe("a runtime's turns", () => {
  it('limit parallel and waiting requests', async () => {
    const turns = makeTurns(1, 2);
    const first = await turns.take(never);
    const waiting = [turns.take(never), turns.take(never)];
    expect(turns.counts()).toEqual({ running: 1, waiting: 2 });
    expect(await turns.take(never)).toBeUndefined();
    first?.giveBack();
    // A turn is returned only once, even if giveBack is called twice.
    first?.giveBack();
    (await waiting[0])?.giveBack();
    expect(turns.counts()).toEqual({ running: 1, waiting: 0 });
    (await waiting[1])?.giveBack();
    expect(turns.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it('are not kept for a disconnected request', async () => {
    const turns = makeTurns(1, 1);
    const first = await turns.take(never);
    const left = new AbortController();
    const waiting = turns.take(left.signal);
    left.abort();
    expect(await waiting).toBeUndefined();
    expect(turns.counts()).toEqual({ running: 1, waiting: 0 });
    expect(await turns.take(left.signal)).toBeUndefined();
    first?.giveBack();
    expect(turns.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it('stay available for others when a request disconnects before or after its turn', async () => {
    const turns = makeTurns(1, 3);
    const first = await turns.take(never);
    const left = new AbortController();
    const served = new AbortController();
    const waiting = [turns.take(left.signal), turns.take(served.signal), turns.take(never)];
    left.abort();
    expect(turns.counts()).toEqual({ running: 1, waiting: 2 });
    first?.giveBack();
    const second = await waiting[1];
    served.abort();
    expect(turns.counts()).toEqual({ running: 1, waiting: 1 });
    second?.giveBack();
    expect(await waiting[2]).toBeDefined();
    expect(turns.counts()).toEqual({ running: 1, waiting: 0 });
  });

  it('reject immediately if no request may wait', async () => {
    const turns = makeTurns(1, 0);
    await turns.take(never);
    expect(await turns.take(never)).toBeUndefined();
  });
});
