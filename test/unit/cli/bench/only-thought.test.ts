import { describe, expect, it } from 'vitest';
import { onlyThought } from '../../../../src/cli/bench/ask-verb.ts';

const hintFor = (tokens: number) => onlyThought({ placement: 'kimi', node: 'studio-1', tokens }).hint;

describe('the hint for a thought without an answer', () => {
  it('suggests more tokens, up to the maximum', () => {
    expect(hintFor(256)).toBe('Allow more tokens: --max-tokens 1024');
    expect(hintFor(2_500)).toBe('Allow more tokens: --max-tokens 9999');
  });

  it('suggests a shorter answer at the maximum', () => {
    expect(hintFor(9_999)).toBe('This is the maximum: ask for something shorter.');
  });
});
