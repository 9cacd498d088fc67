import { describe, expect, it } from 'vitest';
import { freeRankPort as freeRankPortItself, rankPort as rankPortItself } from '../../../src/desired/endpoints.ts';
import { onOnePage, onPage } from '../one-page.ts';

const freeRankPort = onPage(freeRankPortItself);
const rankPort = onPage(rankPortItself);

describe('a port for ranks without a placement', () => {
  it('is chosen again while an endpoint uses it', () => {
    const names = ['launch-a', 'launch-b', 'launch-c'];
    const [first = 0, second = 0, third = 0] = names.map((name) => rankPort(name, 0));
    expect(new Set([first, second, third]).size).toBe(3);
    const drawn = (taken: readonly number[]): number => {
      const left = names.values();
      return freeRankPort(() => left.next().value ?? 'launch-d', taken);
    };
    expect([drawn([]), drawn([first]), drawn([second, first])]).toEqual([first, second, third]);
  });
});

onOnePage('free-rank-port');
