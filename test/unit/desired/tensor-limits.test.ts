import { describe, expect, it } from 'vitest';
import {
  tensorCounts as tensorCountsItself,
  tensorProblems as tensorProblemsItself,
} from '../../../src/desired/tensor-limits.ts';
import { evenShape } from '../engine/plan/fit-shapes.ts';
import { onOnePage, onPage } from '../one-page.ts';

const tensorProblems = onPage(tensorProblemsItself);
const tensorCounts = onPage(tensorCountsItself);

const gqa = evenShape(1e9, {
  attention: { kind: 'gqa' },
  heads: 64,
  kvHeads: 8,
  headDim: 128,
  dims: { intermediate: 28_672 },
});

describe('a tensor split', () => {
  it('works on 2, 4 and 8 ranks with eight key heads, but never on three', () => {
    expect(tensorCounts(gqa, 16)).toEqual([2, 4, 8]);
    expect(tensorProblems(gqa, 3)).toEqual([
      'Its 64 heads are not divisible by 3.',
      'Its 8 key and value heads are not divisible by 3.',
      'Its attention width of 8192 is not divisible by 3.',
      'Its inner width of 28672 is not divisible by 3.',
    ]);
  });

  it('has limits on two ranks, but not on one', () => {
    const odd = { ...gqa, heads: 33, dims: { sharedIntermediate: 1_025 } };
    expect(tensorProblems(odd, 1)).toEqual([]);
    expect(tensorProblems(odd, 2)).toEqual([
      'Its 33 heads are not divisible by 2.',
      'Its inner width of the shared expert of 1025 is not divisible by 2.',
    ]);
  });

  it("does not divide MLA's latent vector", () => {
    expect(tensorProblems({ ...evenShape(1e9), kvHeads: 1 }, 4)).toEqual([]);
  });

  it('keeps groups of quantized weights complete', () => {
    const dims = { moeIntermediate: 768 };
    const quantized = evenShape(1e9, { dims, quant: { bits: 4, group: 64 } });
    expect(tensorProblems(quantized, 4)).toEqual([]);
    expect(tensorProblems(quantized, 8)).toEqual([
      'Its inner width of an expert of 768 gives each of 8 ranks 96, which is not a multiple of the group size 64.',
    ]);
    expect(tensorProblems({ ...quantized, quant: { bits: 4, group: 32 } }, 8)).toEqual([]);
  });
});

onOnePage('tensor-limits');
