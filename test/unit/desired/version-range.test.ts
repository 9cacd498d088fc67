import { describe, expect, it } from 'vitest';
import { isAboveRange, rangeProblem } from '../../../src/desired/version-range.ts';

describe('a macOS version range', () => {
  it.each([
    ['26.6', true],
    ['27', true],
    ['26.5.1', false],
    ['26.3', false],
    ['25', false],
    ['new', undefined],
  ])('decides whether %s is above >=26.4 <26.6: %s', (version, isAbove) => {
    expect(isAboveRange('>=26.4 <26.6', version)).toBe(isAbove);
  });

  it('may have at most 256 characters', () => {
    const longest = `${'>=26.4 '.repeat(36)}>=26`;
    expect([longest.length, rangeProblem(longest)]).toEqual([256, undefined]);
    expect(rangeProblem(`${longest} `)).toBe('It has 257 characters; the limit is 256 characters.');
  });
});
