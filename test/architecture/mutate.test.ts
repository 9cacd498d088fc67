import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from './sources.ts';

interface Mutant {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}
interface Result {
  readonly area: string;
  readonly verdict: string;
  readonly [key: string]: unknown;
}
interface Named {
  readonly file: string;
  readonly operator: string;
}

const load = (name: string) => import(pathToFileURL(join(root, 'scripts/mutate', name)).href);
const {
  codeMutants,
  shellMutants,
  mutated,
}: {
  readonly codeMutants: (path: string, text: string) => readonly Mutant[];
  readonly shellMutants: (path: string, text: string) => readonly Mutant[];
  readonly mutated: (text: string, mutant: Mutant) => string;
} = await load('operators.mjs');
const {
  areas,
  drawn,
  shares,
}: {
  readonly areas: readonly { readonly name: string; readonly folders: readonly string[] }[];
  readonly drawn: (
    seed: string,
    files: readonly string[],
    mutantsOf: (file: string) => readonly Named[],
  ) => Iterable<Named>;
  readonly shares: (count: number, parts: number) => readonly number[];
} = await load('draw.mjs');
const {
  openResults,
  report,
  equivalentOf,
}: {
  readonly openResults: (
    path: string,
    run: { readonly commit: string; readonly seed?: string },
  ) => { readonly run: object; readonly results: readonly object[] };
  readonly report: (
    results: readonly Result[],
    areas: readonly { readonly name: string; readonly bar?: number }[],
  ) => { readonly lines: readonly string[]; readonly isReached: boolean };
  readonly equivalentOf: (list: readonly object[], mutant: object) => object | undefined;
} = await load('report.mjs');
const {
  relatedTests,
}: {
  readonly relatedTests: (
    root: string,
    sizes?: readonly number[],
  ) => (file: string) => readonly { readonly project: string; readonly files: readonly string[] }[];
} = await load('related.mjs');
const {
  withText,
}: {
  readonly withText: (
    copy: { readonly root: string },
    file: string,
    text: string,
    work: () => Promise<unknown>,
  ) => Promise<unknown>;
} = await load('copy.mjs');

/** The mutated texts of one operator. */
const made = (of: typeof codeMutants, operator: string, text: string): readonly string[] =>
  of('sample.ts', text)
    .filter((one) => one.operator === operator)
    .map((one) => mutated(text, one));

describe('mutation operators for TypeScript', () => {
  it.each([
    ['boundary', 'a < b;', ['a <= b;']],
    ['equality', 'a === b;', ['a !== b;']],
    ['and-or', 'a && b;', ['a || b;']],
    ['arithmetic', 'a - 1;', ['a + 1;']],
    ['operand-dropped', 'if (a || b) c();', ['if (a) c();', 'if (b) c();']],
    ['condition-negated', 'const c = a ? 1 : 2;', ['const c = !(a) ? 1 : 2;']],
    ['guard-removed', '{ if (a) return 1; return 2; }', ['{ ; return 2; }']],
    ['guard-removed', 'if (a) return; else b();', []],
    ['guard-removed', 'if (a) { b(); return; }', []],
    ['fallback-removed', 'a ?? b;', ['(a)!;', '(b);']],
    ['chain-required', 'a?.b; a?.[0]; a?.();', ['a!.b; a?.[0]; a?.();', 'a?.b; a![0]; a?.();', 'a?.b; a?.[0]; a!();']],
    ['true-false', 'f(true);', ['f(false);']],
    ['number-plus-one', 'f(1_000);', ['f(1001);']],
    ['text-emptied', "f('a', '');", ["f('', '');"]],
    ['every-some', 'a.every(b);', ['a.some(b);']],
    ['filter-dropped', 'a.b.filter(c).map(d);', ['a.b.map(d);']],
  ] as const)('include %s, which changes %s', (operator, text, expected) => {
    expect(made(codeMutants, operator, text)).toEqual(expected);
  });

  it('do not change types, imports or names', () => {
    const text = `import a from 'a';\nexport * from 'b';\ntype C = 'c' | true | 1;\nconst d = { 'e': f['g'], 1: h };\nawait import('i');`;
    expect(codeMutants('sample.ts', text)).toEqual([]);
  });

  it('report the line with its text before and after the change', () => {
    expect(codeMutants('sample.ts', 'f();\n  g(a < b);\n')).toMatchObject([
      { line: 2, before: 'g(a < b);', after: 'g(a <= b);' },
    ]);
  });
});

describe('mutation operators for shell text', () => {
  it.each([
    ['failure-ignored', `look || failed slug 'it is not there'`, 'look'],
    ['exit-unchecked', 'must ln ${pathWord(tool.ln)} -s a b', '${pathWord(tool.ln)} -s a b'],
    ['command-dropped', 'must mkdir /bin/mkdir -p "$d"', ':'],
    ['guard-dropped', '  [ -e "$d" ] || return 0', '  :'],
    ['guard-dropped', 'isoff && unchanged', ':'],
    ['wait-dropped', 'until isoff; do', 'until true; do'],
    ['test-negated', 'if [ -n "$x" ]; then', 'if [ ! -n "$x" ]; then'],
    ['test-negated', '[ ! -e "$x" ]', '[ -e "$x" ]'],
    ['shell-and-or', '[ -z "$x" ] || [ "$x" = 1 ]', '[ -z "$x" ] && [ "$x" = 1 ]'],
    ['shell-comparison', '[ "$n" -lt 20 ]', '[ "$n" -le 20 ]'],
    ['exit-changed', 'exit ${leaseLostExit}', 'exit 0'],
    ['exit-changed', 'return 0', 'return 1'],
  ])('include %s, which changes %s', (operator, line, expected) => {
    const script = (one: string) => `const body = \`first\n${one}\nlast\`;`;
    expect(made(shellMutants, operator, script(line))).toEqual([script(expected)]);
  });

  it('change a node script but not its header', () => {
    const script = (line: string) => `# must read this\n#\n# Prints: nothing\n${line}\nexit\n`;
    const made = shellMutants('sample.sh', script('"$R/bin/rm" -f "$k" || exit 1'));
    expect(made.map(({ operator, line }) => [operator, line]).sort()).toEqual([
      ['command-dropped', 4],
      ['exit-changed', 4],
    ]);
  });

  it('do not drop parts of statements or text outside template literals', () => {
    const lines = [
      'if a || return 0',
      '[ -e a ] || exit 1 || {',
      'x=$(a || exit 1',
      `'|| return 0`,
      '(a) return 0 || return 1 ;;',
      '(a) b || return 1',
    ];
    for (const line of lines) expect(made(shellMutants, 'guard-dropped', `f(\`first\n${line}\nlast\`);`)).toEqual([]);
    expect(shellMutants('sample.ts', "f('exit 1');")).toEqual([]);
  });
});

describe('mutant selection', () => {
  const mutantsOf = (file: string) =>
    file === 'empty' ? [] : ['boundary', 'boundary', 'equality'].map((operator, place) => ({ file, operator, place }));
  const order = (seed: string) => [...drawn(seed, ['a', 'b', 'c', 'empty'], mutantsOf)];

  it('is determined by its seed', () => {
    expect(order('1')).toEqual(order('1'));
    expect(new Set(['1', '2', '3', '4'].map((seed) => JSON.stringify(order(seed)))).size).toBeGreaterThan(1);
  });

  it('includes every mutant once, and one from each file before a second from any file', () => {
    const all = order('1');
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(9);
    for (const at of [0, 3, 6])
      expect(all.slice(at, at + 3).map(({ file }) => file)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  });

  it('divides the requested number among the areas', () => {
    expect(areas.flatMap(({ folders }) => folders)).toContain('src/gateway');
    expect(shares(150, areas.length)).toEqual([25, 25, 25, 25, 25, 25]);
    expect(shares(8, 6)).toEqual([2, 2, 1, 1, 1, 1]);
  });
});

describe('a mutation report', () => {
  const of = (area: string, verdicts: Readonly<Record<string, number>>): readonly Result[] =>
    Object.entries(verdicts).flatMap(([verdict, count]) =>
      Array.from({ length: count }, () => ({
        area,
        verdict,
        file: 'f.ts',
        line: 1,
        operator: 'x',
        before: 'b',
        after: 'a',
      })),
    );
  const two = [{ name: 'one' }, { name: 'two', bar: 75 }];

  it('counts mutants by area, and does not count timeouts as killed', () => {
    const { lines, isReached } = report(
      [
        ...of('one', { killed: 8, survived: 1 }),
        ...of('two', { killed: 3, 'timed out': 1, equivalent: 1, refused: 7 }),
      ],
      two,
    );
    expect(lines.slice(2, 5)).toEqual([
      '| one | 8 | 1 | 0 | 0 | 88 % |  |',
      '| two | 3 | 0 | 1 | 1 | 75 % | 75 % |',
      '| **all** | 11 | 1 | 1 | 1 | 84 % | 75 % |',
    ]);
    expect(isReached).toBe(true);
    expect(lines).toContain('survived: f.ts:1 x');
    expect(lines).toContain('timed out: f.ts:1 x');
  });

  it.each([
    [
      'an area below its bar',
      [...of('one', { killed: 20 }), ...of('two', { killed: 747, survived: 253 })],
      'MISSED   two: 74 % killed',
    ],
    ['an area without a mutant', of('one', { killed: 20 }), 'MISSED   two: - killed'],
    [
      'a total below the bar',
      [...of('one', { survived: 20 }), ...of('two', { killed: 4 })],
      'MISSED   **all**: 16 % killed',
    ],
    ['too many equivalents', of('two', { killed: 8, equivalent: 1 }), 'MISSED   equivalent: 1 of 9'],
  ])('misses a threshold with %s', (_, results, line) => {
    const { lines, isReached } = report(results, two);
    expect(isReached).toBe(false);
    expect(lines.find((one) => one.startsWith('MISSED'))).toContain(line);
  });
});

describe('an equivalent mutant', () => {
  it('is identified by file, operator and text, not by line number', () => {
    const mutant = { file: 'a.ts', operator: 'boundary', before: 'a < b', after: 'a <= b' };
    const list = [{ ...mutant, reason: 'a is never b' }];
    expect(equivalentOf(list, { ...mutant, line: 7 })).toBe(list[0]);
    expect(equivalentOf(list, { ...mutant, file: 'b.ts' })).toBeUndefined();
  });
});

describe('the files of a mutation run', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'meshwright-mutate-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  it('add to earlier results, but drop a truncated line', () => {
    const run = { commit: 'c', seed: '7' };
    write('results', `${JSON.stringify(run)}\n{"file":"a"}\n{"fil`);
    expect(openResults(join(folder, 'results'), { commit: 'c' })).toEqual({ run, results: [{ file: 'a' }] });
    expect(readFileSync(join(folder, 'results'), 'utf8')).toBe(`${JSON.stringify(run)}\n{"file":"a"}\n`);
    expect(() => openResults(join(folder, 'results'), { commit: 'c', seed: '8' })).toThrow('seed 7');
    expect(() => openResults(join(folder, 'results'), { commit: 'd' })).toThrow('commit c');
  });

  it('are restored after a failed run', async () => {
    write('a.ts', 'original');
    const work = async () => {
      expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe('mutant');
      throw new Error('no tests');
    };
    await expect(withText({ root: folder }, 'a.ts', 'mutant', work)).rejects.toThrow('no tests');
    expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe('original');
  });

  it('are tested with the nearest unit tests, then with the closest command line tests', () => {
    write('src/cli/main.ts', `const run = await import('../hold.ts');`);
    write('src/hold.ts', `export const word = 'unlikely-word';`);
    write('src/plan.ts', `import { word } from './hold.ts';`);
    write('test/unit/hold.test.ts', `import { word } from '../../src/hold.ts';`);
    write('test/unit/plan.test.ts', `import '../../src/plan.ts';`);
    write('test/unit/types.test.ts', `import type { Word } from '../../src/model/probe.ts';`);
    write('test/cli/meshwright.ts', `export const meshwright = 1;`);
    for (const name of ['apply', 'stop'])
      write(`test/cli/${name}.test.ts`, `import './meshwright.ts'; f('${name}-it');`);
    write('test/cli/hold.test.ts', `import './meshwright.ts'; f('unlikely-word');`);
    expect(relatedTests(folder, [1, 9, 1])('src/hold.ts')).toEqual([
      { project: 'parts', files: ['test/unit/hold.test.ts'] },
      { project: 'parts', files: ['test/unit/plan.test.ts'] },
      { project: 'whole', files: ['test/cli/hold.test.ts'] },
    ]);
  });
});
