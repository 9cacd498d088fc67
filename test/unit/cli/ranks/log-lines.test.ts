import { describe, expect, it } from 'vitest';
import { lineReader } from '../../../../src/cli/ranks/logs.ts';

describe('the line reader', () => {
  it('returns a line when it is complete, even if a character was split', () => {
    const reader = lineReader();
    const bytes = Buffer.from('gr\u00fc\u00df\r\n\nnext');
    expect(reader.add(bytes.subarray(0, 3))).toEqual([]);
    expect(reader.add(bytes.subarray(3))).toEqual(['gr\u00fc\u00df', '']);
    expect(reader.add(Buffer.from(' line\n'))).toEqual(['next line']);
  });

  it('returns an incomplete line at the end, and then starts from scratch', () => {
    const reader = lineReader();
    reader.add(Buffer.from('cut \u00fc').subarray(0, 5));
    expect(reader.end()).toEqual(['cut \ufffd']);
    expect(reader.end()).toEqual([]);
    expect(reader.add(Buffer.from('new\n'))).toEqual(['new']);
  });

  it('cuts an endless line', () => {
    const reader = lineReader();
    const lines = reader.add(Buffer.from('x'.repeat(150_000)));
    expect(lines.map((line) => line.length)).toEqual([65_536, 65_536]);
    expect(reader.add(Buffer.from('\n')).map((line) => line.length)).toEqual([150_000 - 131_072]);
  });
});
