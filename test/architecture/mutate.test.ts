import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const load = (name: string) => import(`../../scripts/mutate/${name}.mjs`);
const { mutantsOf, mutated } = await load('operators');
const { drawnFiles } = await load('draw');
const { openResults, report } = await load('results');

/** The texts that one operator makes of a text. */
function made(operator: string, path: string, text: string): readonly string[] {
  const mutants: readonly { readonly operator: string }[] = mutantsOf(path, text, path !== 'plain.ts');
  return mutants.filter((one) => one.operator === operator).map((one) => mutated(text, one));
}

it.each([
  ['boundary', 'a < b;', ['a <= b;']],
  ['true-false', 'f(true);', ['f(false);']],
  ['loop-left', 'for (;;) break;', ['for (;;) continue;']],
  ['first-last', 'a.find(b); find(c);', ['a.findLast(b); find(c);']],
  ['operand-dropped', 'if (a || b) c();', ['if (a) c();', 'if (b) c();']],
  ['condition-negated', 'const c = a ? 1 : 2;', ['const c = !(a) ? 1 : 2;']],
  ['branch-chosen', 'a ? b : c;', ['b;', 'c;']],
  ['guard-removed', '{ if (a) return 1; return 2; }', ['{ ; return 2; }']],
  ['else-dropped', 'if (a) b(); else c();', ['if (a) b(); else ;']],
  ['case-dropped', 'switch (a) { case 1: b(); default: c(); }', ['switch (a) {  default: c(); }']],
  ['statement-dropped', 'a(); const b = c();', ['; const b = c();']],
  ['await-dropped', 'await a();', ['a();']],
  ['not-dropped', 'f(!a);', ['f(a);']],
  ['fallback-removed', 'a ?? b;', ['(a)!;', 'b;']],
  ['chain-required', 'a?.b; a?.[0];', ['a!.b; a?.[0];', 'a?.b; a![0];']],
  ['number-plus-one', 'f(1_000);', ['f(1001);']],
  ['number-scaled', 'f(25);', ['f(250);', 'f(2);']],
  ['text-emptied', "f('a', '');", ["f('', '');"]],
  ['call-dropped', 'a.b.filter(c).map(d);', ['a.b.map(d);']],
  ['arguments-swapped', 'f(a, b, c);', ['f(b, a, c);', 'f(a, c, b);']],
  ['element-dropped', 'f([a, b,]);', ['f([b,]);', 'f([a]);']],
  ['property-dropped', 'f({ a, ...b });', ['f({ ...b });', 'f({ a });']],
  ['anchor-dropped', 'f(/^a$/u);', ['f(/a$/u);', 'f(/^a/u);']],
])('%s changes %s in TypeScript', (operator, text, expected) => {
  expect(made(operator, 'plain.ts', text)).toEqual(expected);
});

it.each([
  ['shell-statement-dropped', 'x=$1', ':'],
  ['command-dropped', 'must mkdir "$R/bin/mkdir" "$d"', ':'],
  ['shell-guard-dropped', '[ -e "$d" ] || return 0', ':'],
  ['failure-ignored', `look || failed slug 'it is not there'`, 'look'],
  ['exit-unchecked', 'must ln "$R/bin/ln" -s a b', '"$R/bin/ln" -s a b'],
  ['wait-dropped', 'until isoff; do', 'until true; do'],
  ['test-negated', 'if [ ! -e "$x" ]; then', 'if [ -e "$x" ]; then'],
  ['shell-not-dropped', 'if ! look; then', 'if look; then'],
  ['shell-and-or', 'a && [ -n b ]', 'a || [ -n b ]'],
  ['shell-comparison', '[ "$n" -lt 20 ]', '[ "$n" -le 20 ]'],
  ['shell-equality', '[ "$x" = a ]', '[ "$x" != a ]'],
  ['test-kind', '[ -f "$x" ]', '[ -h "$x" ]'],
  ['exit-changed', 'return 0', 'return 1'],
  ['option-dropped', 'rm -rf "$x"', 'rm "$x"'],
  ['redirection-dropped', 'look 2>/dev/null', 'look'],
  ['append-or-overwrite', 'look >>"$x"', 'look >"$x"'],
  ['shell-number-scaled', 'sleep 5', 'sleep 50'],
  ['shell-arithmetic', 'n=$((n + 1))', 'n=$((n - 1))'],
  ['longest-match', 'x=${x##*/}', 'x=${x#*/}'],
  ['default-dropped', 'x=${x:-a}', 'x=${x}'],
  ['shell-else-dropped', 'if a; then\n  b\nelse\n  c\nfi', 'if a; then\n  b\nfi'],
  ['shell-case-dropped', 'case $x in (a) b ;; (*) c ;; esac', 'case $x in (*) c ;; esac'],
  ['shell-loop-left', 'while a; do break; done', 'while a; do continue; done'],
])('%s changes %s in a node script, but not in a comment', (operator, text, expected) => {
  const comment = `# ${text.replaceAll('\n', '\n# ')}\n`;
  const script = (one: string) => `# Prints: nothing\nfirst() {\n${comment}${one}\n}\n`;
  expect(made(operator, 'sample.sh', script(text))).toContain(script(expected));
  expect(made(operator, 'sample.sh', `}\n${comment}`)).toEqual([]);
  const code = (one: string) => `f(\`first\n${one.replaceAll('${', '\\${')}\nlast\`);`;
  expect(made(operator, 'sample.ts', code(text))).toContain(code(expected));
  expect(made(operator, 'plain.ts', code(text))).toEqual([]);
});

it('the seed determines which files are drawn for mutation', () => {
  const [first, again, other] = ['1', '1', '2'].map((seed) => drawnFiles(seed, ['a', 'b', 'c', 'd'], () => 1));
  expect([again, [...other].sort()]).toEqual([first, ['a', 'b', 'c', 'd']]);
  expect(other).not.toEqual(first);
});

it('a mutation report excludes equivalent mutants from the score, and requires a reason for each', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'meshwright-mutate-')), 'results.jsonl');
  onTestFinished(() => rmSync(dirname(path), { recursive: true }));
  const stored = (reason: string) => {
    const verdicts = ['killed', 'killed', 'killed', 'survived', 'equivalent'];
    const lines = verdicts.map((verdict) => JSON.stringify({ file: 'src/rack/a.ts', verdict, reason }));
    writeFileSync(path, ['{"commit":"c"}', ...lines, '{"file":"trunc'].join('\n'));
    return openResults(path, {}).results;
  };
  expect(() => stored('')).toThrow('src/rack/a.ts');
  const { lines, isReached } = report(stored('same text'));
  expect([lines[1], isReached]).toEqual(['| rack | 3 | 1 | 0 | 1 | 75 % |  |', false]);
});
