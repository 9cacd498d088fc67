import { describe, expect, it } from 'vitest';
import { lengthOf } from './recover.ts';
import { barsOf, barsText, type Measured } from './summary.ts';

const measured = (sixteenMs: number): Measured => ({
  observation: [
    { nodes: 4, pairs: [{ meshwrightMs: 300, sshMs: 200, sameAlgorithmsMs: 200 }] },
    { nodes: 16, pairs: [{ meshwrightMs: sixteenMs, sshMs: 1_000, sameAlgorithmsMs: 1_000 }] },
    { nodes: 64, pairs: [{ meshwrightMs: 123_456, sshMs: 123_456, sameAlgorithmsMs: 123_456 }] },
  ],
  apply: [
    {
      nodes: 16,
      pairs: [{ meshwrightMs: sixteenMs, sshMs: 1_000, sameAlgorithmsMs: 1_000 }],
      firstMs: 123_456,
      oneFileMs: [5_000, 4_000, 6_000],
    },
  ],
  memory: { nodes: 64, peakBytes: [90e6, 119e6, 100e6] },
  startUp: [{ nodeMs: 20, versionMs: 30, validateMs: 80 }],
  lost: [{ usualMs: 400, rankLostMs: 500, othersMs: 600, namedMs: 4_400 }],
  recover: [{ statusMs: 800, healthyMs: 1_500, wholeMs: 20_000, neededMs: 4_500 }],
  exchanges: [{ name: 'mesh of 7', seconds: 5.5, boundSeconds: 20, limit: 0.25 }],
  firstTokens: [
    { applyMs: 123_456, afterTokenMs: 4_000 },
    { applyMs: 123_456, afterTokenMs: 5_001 },
    { applyMs: 123_456, afterTokenMs: 9_000 },
  ],
  fnv: [
    { native: 2, plainC: 2, javaScript: 8, bigInt: 30 },
    { native: 3, plainC: 4, javaScript: 9, bigInt: 50 },
  ],
  gateway: {
    usualMs: 10,
    silentMs: 20,
    uploadsMs: 2_010,
    longJsonMs: 2_011,
    peakBytes: 450e6,
    neighbors: { aloneMs: 20, besideMs: 1_021, peakBytes: 512e6 },
  },
});

describe('benchmark limits', () => {
  it('compare observations with the floor, peak memory with its limit, and start-up time with bare Node', () => {
    expect(barsOf(measured(1_100)).map(({ value, isReached }) => [value, isReached])).toEqual([
      [1.5, true],
      [1.1, true],
      [1.1, false],
      [1.1, true],
      [5_000 / 1_100, false],
      [123_456 / 1_100, false],
      [1.25, true],
      [1.5, false],
      [4.4, true],
      [1.5, true],
      [15.5, false],
      [0.01, true],
      [2, true],
      [2.001, false],
      [450, true],
      [1.001, false],
      [512, true],
      [0.275, false],
      [5.001, false],
      [1, true],
      [0.25, true],
      [2 / 30, false],
      [119, true],
      [1.5, true],
      [4, false],
    ]);
  });

  it('are marked MISSED if exceeded', () => {
    const lines = barsText(barsOf(measured(1_101))).split('\n');
    expect(lines.filter((line) => line.endsWith('MISSED'))).toEqual([
      'facts of 16 nodes, by ssh           1.101 x   at most 1.1 x     MISSED',
      'no-op, 16 nodes, by ssh             1.101 x   at most 1.0 x     MISSED',
      'no-op, 16 nodes, by equal ssh       1.101 x   at most 1.1 x     MISSED',
      'one file, 16 nodes, by no-op        4.541 x   at most 1.5 x     MISSED',
      'first, 16 nodes, by no-op         112.131 x   at most 6.0 x     MISSED',
      'status, others of a silent Mac      1.500 x   at most 1.3 x     MISSED',
      'recover, own time                  15.500 s   at most 15.0 s    MISSED',
      'gateway, later beside long JSON     2.001 s   at most 2.0 s     MISSED',
      'gateway, later beside neighbors     1.001 s   at most 1.0 s     MISSED',
      'model, mesh of 7                    0.275 x   at most 0.25 x    MISSED',
      'apply, after the first token        5.001 s   at most 5.0 s     MISSED',
      'fnv, by big integers                0.067 x   at most 0.05 x    MISSED',
      'validate, by node -e 0              4.000 x   at most 3.5 x     MISSED',
    ]);
  });
});

it("the waits in recover's time count once where they overlap", () => {
  expect(lengthOf([])).toBe(0);
  expect(
    lengthOf([
      [50, 60],
      [0, 10],
      [5, 20],
      [6, 7],
    ]),
  ).toBe(30);
});
