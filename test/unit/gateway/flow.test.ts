import { describe, expect, it } from 'vitest';
import { makeFlow } from '../../../src/gateway/flow.ts';

function flowAt() {
  let at = 1_000;
  const flow = makeFlow(() => at);
  const wait = (ms: number): void => {
    at += ms;
  };
  return { flow, wait };
}

describe("a runtime's output flow", () => {
  it('counts as quiet only while there are requests, starting with the first', () => {
    const { flow, wait } = flowAt();
    wait(500);
    expect(flow.sight()).toEqual({});
    const first = flow.begin(false);
    wait(40);
    flow.begin(false);
    wait(2);
    expect(flow.sight()).toEqual({ quietMs: 42 });
    first.came();
    wait(7);
    expect(flow.sight()).toEqual({ lastByteMsAgo: 7, quietMs: 7 });
  });

  it('stays quiet when one of several requests ends', () => {
    const { flow, wait } = flowAt();
    const [first, second] = [flow.begin(false), flow.begin(false)];
    first.came();
    wait(30);
    first.end();
    expect(flow.sight()).toEqual({ lastByteMsAgo: 30, quietMs: 30 });
    second.end();
    expect(flow.sight()).toEqual({ lastByteMsAgo: 30 });
    flow.begin(false);
    wait(5);
    expect(flow.sight()).toEqual({ lastByteMsAgo: 35, quietMs: 5 });
  });

  it('does not count as quiet while a slow client blocks it', () => {
    const { flow, wait } = flowAt();
    const one = flow.begin(false);
    one.came();
    one.hold(true);
    wait(60);
    expect(flow.sight()).toEqual({ lastByteMsAgo: 60 });
    one.hold(false);
    wait(3);
    expect(flow.sight()).toEqual({ lastByteMsAgo: 63, quietMs: 3 });
  });

  it('measures the silence of streams since their start or last output', () => {
    const { flow, wait } = flowAt();
    const whole = flow.begin(false);
    wait(100);
    expect(flow.sight()).toEqual({ quietMs: 100 });
    const [first, second] = [flow.begin(true), flow.begin(true)];
    wait(10);
    expect(flow.sight()).toEqual({ quietMs: 110, streamQuietMs: 10 });
    first.end();
    second.came();
    wait(4);
    expect(flow.sight()).toEqual({ lastByteMsAgo: 4, quietMs: 4, streamQuietMs: 4 });
    second.end();
    expect(flow.sight()).toEqual({ lastByteMsAgo: 4, quietMs: 4 });
    whole.end();
  });

  it('ignores events from a finished request', () => {
    const { flow, wait } = flowAt();
    const one = flow.begin(false);
    one.hold(true);
    one.end();
    one.came();
    one.hold(true);
    flow.begin(false);
    wait(9);
    expect(flow.sight()).toEqual({ quietMs: 9 });
  });
});
