import { describe, expect, it } from 'vitest';
import { publishedFor } from '../../../src/drivers/known/known-models.ts';
import { parsePower } from '../../../src/engine/scripts/power-sample.ts';
import { median } from '../../../src/model/lists.ts';
import { type BenchAnswer, type BenchTextInput, benchLevel, benchText } from '../../../src/report/bench-text.ts';
import { plainPage } from '../../rack/page.ts';
import { captured } from '../sim/captures.ts';

const answer = (startedAtMs: number, endedAtMs: number, rest: Partial<BenchAnswer> = {}): BenchAnswer => ({
  startedAtMs,
  endedAtMs,
  tokens: 10,
  ...rest,
});

describe('a benchmark level', () => {
  it('has medians over its runs, and the total tokens per second of each round', () => {
    const rounds = [
      [answer(0, 1_000, { firstTokenMs: 100, generationSpeed: 20 }), answer(0, 2_000, { firstTokenMs: 300 })],
      [answer(5_000, 6_000, { firstTokenMs: 200 }), answer(5_000, 9_000, { firstTokenMs: 900 })],
      [answer(10_000, 11_000, { firstTokenMs: 150 }), answer(10_000, 11_000, { firstTokenMs: 250 })],
    ];
    expect(benchLevel(2, rounds, 5)).toEqual({
      requests: 2,
      answered: 6,
      failed: 0,
      firstTokenMs: 225,
      promptSpeed: undefined,
      generationSpeed: 20,
      totalSpeed: 10,
      watts: 5,
      tokensPerJoule: 2,
    });
  });

  it('has no total speed for a round with a failed request, since the others then get more of the mesh', () => {
    const level = benchLevel(2, [[answer(0, 1_000), undefined]], 5);
    expect([level.answered, level.failed, level.totalSpeed, level.tokensPerJoule]).toEqual([
      1,
      1,
      undefined,
      undefined,
    ]);
  });

  it('averages the two middle numbers as the median of an even count', () => {
    expect([median([]), median([3]), median([4, 1]), median([9, 1, 2])]).toEqual([undefined, 3, 2.5, 2]);
  });
});

describe('parsePower', () => {
  it('returns the combined power in published output, in watts', () => {
    expect(parsePower(captured('powermetrics-cpu-gpu.m3ultra.excerpt.txt'))).toBe(18.378);
    expect(
      parsePower('Combined Power (CPU + GPU + ANE): 9 mWh\nXCombined Power (CPU + GPU + ANE): 9 mW\n'),
    ).toBeUndefined();
  });
});

const level = (requests: number, totalSpeed: number | undefined, rest: object = {}) => ({
  requests,
  answered: 3 * requests,
  failed: 0,
  firstTokenMs: 812.4 * requests,
  promptSpeed: 1_204.6,
  generationSpeed: 27.94,
  totalSpeed,
  watts: undefined,
  tokensPerJoule: undefined,
  ...rest,
});

const shown: BenchTextInput = {
  placement: 'kimi',
  model: 'kimi-k2',
  runtime: 'mlx',
  transport: 'rdma',
  nodes: ['studio-1', 'studio-2', 'studio-3', 'studio-4'],
  words: 400,
  maxTokens: 128,
  runs: 3,
  levels: [
    level(1, 27.94, { watts: 412.5, tokensPerJoule: 0.0677 }),
    level(2, 49.2, { watts: 530, tokensPerJoule: 0.0928 }),
    level(4, undefined, { failed: 2, generationSpeed: undefined }),
  ],
  isCounted: false,
  published: publishedFor(['kimi-k2-thinking'], 4),
};

describe("a benchmark's text", () => {
  it('has a line and a bar for each level, then published speeds', async () => {
    const plain: BenchTextInput = { ...shown, levels: [level(1, 8.1)], published: [], isCounted: true };
    const texts = [
      benchText(shown, plainPage()),
      benchText(plain, plainPage({ isSimulated: true })),
      benchText(shown, plainPage({ columns: 40 })),
    ];
    await expect(texts.join('\n')).toMatchFileSnapshot('golden/bench.txt');
    expect(texts[0]).toMatch(/^[\x20-\x7e\n]*$/);
  });

  it('has no legend if nothing was measured', () => {
    const text = benchText({ ...shown, levels: [] }, plainPage());
    expect(text.split('\n').slice(1)).toEqual(['', 'No request was answered, so nothing was measured.', '']);
  });

  it('fits the page width except for addresses to copy', () => {
    for (const columns of [80, 60, 40, 20]) {
      const lines = benchText(shown, plainPage({ columns })).split('\n');
      expect(lines.filter((line) => line.length > columns && !line.includes('https://'))).toEqual([]);
    }
  });
});
