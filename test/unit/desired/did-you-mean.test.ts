import { describe, expect, it } from 'vitest';
import { didYouMean, suggesterAmong } from '../../../src/desired/did-you-mean.ts';
import { editDistance } from '../../../src/desired/edit-distance.ts';
import { listText } from '../../../src/model/lists.ts';

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['node', 'node', 0],
    ['nodes', 'node', 1],
    ['ndoe', 'node', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['', 'abc', 3],
  ])('is computed from %j to %j as %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe('a suggestion', () => {
  it('is the closest word', () => {
    expect(didYouMean('hots', ['user', 'host', 'port'])).toBe('host');
    expect(didYouMean('STUDOI-2', ['studio-1', 'studio-2'])).toBe('studio-2');
  });

  it('is not made if no word is close, or if several words are close', () => {
    expect(didYouMean('studio-9', ['studio-1', 'studio-2'])).toBeUndefined();
    expect(didYouMean('colour', ['host', 'user'])).toBeUndefined();
    expect(didYouMean('x', ['y'])).toBeUndefined();
    expect(didYouMean('anything', [])).toBeUndefined();
  });

  it('ignores very long words', () => {
    expect(didYouMean('a'.repeat(65), ['a'.repeat(64)])).toBeUndefined();
    expect(didYouMean('abcd', ['a'.repeat(1_000_000), 'abce'])).toBe('abce');
  });
});

describe('an edit distance with a limit', () => {
  it('is exact up to the limit and larger above it', () => {
    const words = ['', 'a', 'ab', 'ba', 'node', 'ndoe', 'edon', 'studio-1', 'sutdoi-1', 'xxxxxxxx'];
    for (const from of words) {
      for (const to of words) {
        const exact = editDistance(from, to);
        for (const atMost of [0, 1, 2, 3, 8]) {
          const counted = editDistance(from, to, atMost);
          if (exact <= atMost) expect([from, to, atMost, counted]).toEqual([from, to, atMost, exact]);
          else expect([from, to, atMost, counted > atMost]).toEqual([from, to, atMost, true]);
        }
      }
    }
  });
});

describe('suggestions for many words', () => {
  it('stop after a hundred different words, but earlier suggestions are still repeated', () => {
    const suggest = suggesterAmong(['studio-1']);
    for (let index = 0; index < 99; index += 1) expect(suggest(`other-${index}`)).toBeUndefined();
    expect(suggest('studoi-1')).toBe('studio-1');
    expect(suggest('stduio-1')).toBeUndefined();
    expect(suggest('studoi-1')).toBe('studio-1');
  });
});

describe('a list rendered as text', () => {
  it('has commas and a conjunction before the last word', () => {
    expect([listText([]), listText(['a']), listText(['a', 'b', 'c'], 'or')]).toEqual(['', 'a', 'a, b or c']);
  });
});
