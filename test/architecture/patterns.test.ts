import { expect, it } from 'vitest';
import { lint } from './lint.ts';
import { filesBelow, textOf } from './sources.ts';

/** Every pattern of a JSON Schema. */
function patternsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'pattern' && typeof one === 'string' ? [one] : patternsIn(one),
  );
}

it('schema patterns match in linear time', () => {
  const patterns = [...new Set(filesBelow('schemas').flatMap((file) => patternsIn(JSON.parse(textOf(file)))))];
  expect(patterns.length).toBeGreaterThan(30);
  const all = ['^a$', '^(a+)+$', ...patterns];
  const text = all.map((pattern) => `void ${new RegExp(pattern, 'u')};\n`).join('');
  const slow = lint({ 'src/sim/patterns.ts': text }).filter(({ rule }) => rule.startsWith('regexp('));
  expect(slow.map(({ line }) => all[line - 1])).toEqual(['^(a+)+$']);
});
