import { describe, expect, it } from 'vitest';
import { parseLinkEnd as parseLinkEndItself, parseLink as parseLinkItself } from '../../../src/desired/addresses.ts';
import { onOnePage, onPage } from '../one-page.ts';

const parseLink = onPage(parseLinkItself);
const parseLinkEnd = onPage(parseLinkEndItself);

describe("a link's text", () => {
  it('consists of two ends with any number of spaces between them', () => {
    const ends = [
      { node: 'a-1', receptacle: 2 },
      { node: 'b', receptacle: 12 },
    ];
    expect(parseLink('a-1:2 <-> b:12')).toEqual(ends);
    expect(parseLink('a-1:2<->b:12')).toEqual(ends);
    expect(parseLink('a-1:2   <->  b:12')).toEqual(ends);
  });

  it.each([
    'a:2',
    'a:2 <-> ',
    'a:2 <-> b:3 <-> c:4',
    'a:0 <-> b:1',
    'a:01 <-> b:1',
    'A:1 <-> b:1',
    'a:2 -> b:3',
    ' a:2 <-> b:1',
  ])('cannot be %j', (text) => {
    expect(parseLink(text)).toBeUndefined();
  });

  it('has ends that consist of a name and a receptacle from 1 to 99', () => {
    expect(parseLinkEnd('studio-1:99')).toEqual({ node: 'studio-1', receptacle: 99 });
    expect(['studio-1', 'studio-1:100', '-a:1', 'a-:1', `${'a'.repeat(64)}:1`].map(parseLinkEnd)).toEqual(
      Array.from({ length: 5 }),
    );
  });
});

onOnePage('link-text');
