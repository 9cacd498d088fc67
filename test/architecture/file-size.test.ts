import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './sources.ts';
import { functionsOf, parse } from './syntax.ts';

const written = (path: string): boolean => /\.(?:ts|mjs|cjs)$/.test(path) && !path.endsWith('.generated.ts');
const source = filesBelow('src').filter(written);
const everything = [...source, ...filesBelow('test').filter(written), ...filesBelow('scripts').filter(written)];

describe('a file', () => {
  it('has at most 500 lines, even if it is a test or a script', () => {
    const long = everything.map((path) => `${path}: ${textOf(path).trimEnd().split('\n').length}`);
    expect(long.filter((row) => Number(row.split(': ').at(-1)) > 500)).toEqual([]);
  });
});

describe('a function', () => {
  const functions = source.flatMap((path) => functionsOf(parse(path)));

  it('has at most 70 lines', () => {
    expect(functions.filter((one) => one.lines > 70).map((one) => `${one.place} ${one.name}: ${one.lines}`)).toEqual(
      [],
    );
  });

  it('has at most three nested blocks', () => {
    expect(functions.filter((one) => one.depth > 3).map((one) => `${one.place} ${one.name}: ${one.depth}`)).toEqual([]);
  });
});

describe('functionsOf', () => {
  const measured = functionsOf(
    parse(
      'sample.ts',
      `function deep(a, b, c, d, e) {
        for (const x of a) { if (x) { try { while (b) { c(); } } catch { d(e); } } else if (b) { c(); } }
      }
      const flat = (a) => {
        if (a) { return 1; } else if (a > 1) { return 2; } else if (a > 2) { return 3; }
      };`,
    ),
  );

  it('counts lines and nesting depth, with an else-if at the same depth as its if', () => {
    expect(measured).toEqual([
      { place: 'sample.ts:1', name: 'deep', lines: 3, depth: 4 },
      { place: 'sample.ts:4', name: 'flat', lines: 3, depth: 1 },
    ]);
  });
});
