import { describe, expect, it } from 'vitest';
import { didYouMean, editDistance, listText } from '../../../src/desired/did-you-mean.ts';

describe('the distance of two words', () => {
  it.each([
    ['', '', 0],
    ['node', 'node', 0],
    ['nodes', 'node', 1],
    ['ndoe', 'node', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['', 'abc', 3],
  ])('of %j and %j is %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe('a suggestion', () => {
  it('is the nearest word', () => {
    expect(didYouMean('hots', ['user', 'host', 'port'])).toBe('host');
    expect(didYouMean('STUDOI-2', ['studio-1', 'studio-2'])).toBe('studio-2');
  });

  it('is not made when several words are as near, or none is', () => {
    expect(didYouMean('studio-9', ['studio-1', 'studio-2'])).toBeUndefined();
    expect(didYouMean('colour', ['host', 'user'])).toBeUndefined();
    expect(didYouMean('x', ['y'])).toBeUndefined();
    expect(didYouMean('anything', [])).toBeUndefined();
  });

  it('is not sought for words of any length', () => {
    expect(didYouMean('a'.repeat(65), ['a'.repeat(64)])).toBeUndefined();
    expect(didYouMean('abcd', ['a'.repeat(1_000_000), 'abce'])).toBe('abce');
  });
});

describe('a list in words', () => {
  it('reads as people write it', () => {
    expect([listText([]), listText(['a']), listText(['a', 'b', 'c'], 'or')]).toEqual(['', 'a', 'a, b or c']);
  });
});
