import { describe, expect, it } from 'vitest';
import { onlyThought } from '../../../../src/cli/bench/ask-verb.ts';

const hintFor = (tokens: number) => onlyThought({ placement: 'kimi', node: 'studio-1', tokens }).hint;

describe('an answer of thoughts alone', () => {
  it('names as many tokens as the option takes', () => {
    expect(hintFor(256)).toBe('Allow more tokens: --max-tokens 1024');
    expect(hintFor(2_500)).toBe('Allow more tokens: --max-tokens 9999');
  });

  it('names no more where there are no more', () => {
    expect(hintFor(9_999)).toBe('This is the maximum: ask for something shorter.');
  });
});
