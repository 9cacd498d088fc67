import { describe, expect, it } from 'vitest';
import { lineReader } from '../../../../src/cli/ranks/logs.ts';

describe('a reader of lines', () => {
  it('gives a line when it ends, also one whose characters are torn apart', () => {
    const reader = lineReader();
    const bytes = Buffer.from('gr\u00fc\u00df\r\n\nnext');
    expect(reader.add(bytes.subarray(0, 3))).toEqual([]);
    expect(reader.add(bytes.subarray(3))).toEqual(['gr\u00fc\u00df', '']);
    expect(reader.add(Buffer.from(' line\n'))).toEqual(['next line']);
  });

  it('gives what has no end when no more will come, and begins anew', () => {
    const reader = lineReader();
    reader.add(Buffer.from('cut \u00fc').subarray(0, 5));
    expect(reader.end()).toEqual(['cut \ufffd']);
    expect(reader.end()).toEqual([]);
    expect(reader.add(Buffer.from('new\n'))).toEqual(['new']);
  });

  it('keeps no line without end: it is cut', () => {
    const reader = lineReader();
    const lines = reader.add(Buffer.from('x'.repeat(150_000)));
    expect(lines.map((line) => line.length)).toEqual([65_536, 65_536]);
    expect(reader.add(Buffer.from('\n')).map((line) => line.length)).toEqual([150_000 - 131_072]);
  });
});
