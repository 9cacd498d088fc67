import { describe, expect, it } from 'vitest';
import { isIpv4, isName, wholeNumber } from '../../../../src/node/answers/grammar.ts';

describe('parsers of single values', () => {
  it('accept only whole numbers that JavaScript represents exactly', () => {
    expect(wholeNumber('549755813888')).toBe(549_755_813_888);
    for (const text of ['', '-1', '1e3', '0x10', ' 1', '9007199254740993', undefined]) {
      expect(wholeNumber(text)).toBeUndefined();
    }
  });

  it('refuse IPv4 numbers above 255 and names with control characters', () => {
    expect(isIpv4('192.0.2.255')).toBe(true);
    expect(isIpv4('192.0.2.256')).toBe(false);
    expect(isName('Büro-Mac №3')).toBe(true);
    expect(isName('a\u0007')).toBe(false);
    expect(isName(' a')).toBe(false);
  });
});
