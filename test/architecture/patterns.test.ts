import { ESLint, type Linter } from 'eslint';
import { expect, it } from 'vitest';
import { filesBelow, root, textOf } from './sources.ts';

/** The rules of `npm run check` for patterns in the sources. */
const { default: config } = (await import(`${root}eslint.config.mjs`)) as { default: readonly Linter.Config[] };
const { plugins = {}, rules = {} } = config.find((one) => Object.hasOwn(one.plugins ?? {}, 'regexp')) ?? {};
const lint = new ESLint({ overrideConfigFile: true, overrideConfig: { files: ['patterns.mjs'], plugins, rules } });

/** Every pattern of a JSON Schema. */
function patternsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'pattern' && typeof one === 'string' ? [one] : patternsIn(one),
  );
}

/** The patterns whose time may grow faster than the length of a text. */
async function slowOf(patterns: readonly string[]): Promise<readonly (string | undefined)[]> {
  const text = patterns.map((pattern) => `void ${new RegExp(pattern, 'u')};`).join('\n');
  const [result] = await lint.lintText(text, { filePath: `${root}patterns.mjs` });
  return (result?.messages ?? []).map(({ line }) => patterns[line - 1]);
}

it('schema patterns match in linear time', async () => {
  const patterns = [...new Set(filesBelow('schemas').flatMap((file) => patternsIn(JSON.parse(textOf(file)))))];
  expect(patterns.length).toBeGreaterThan(30);
  expect(await slowOf(['^a$', '^(a+)+$', ...patterns])).toEqual(['^(a+)+$']);
});
