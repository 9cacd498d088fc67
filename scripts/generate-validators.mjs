/**
 * Makes `src/config/validators.generated.ts` from the schemas, so that no schema is compiled at start-up; with
 * `--check` only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';

const target = 'src/config/validators.generated.ts';
const names = ['cluster', 'lock'];
const schemas = names.map((name) => JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8')));

// Every length in the schemas bounds ASCII text, so `unicode: false` (code units) is exact and needs no run-time import.
const ajv = new Ajv2020({
  strict: true,
  strictRequired: true,
  allErrors: true,
  ownProperties: true,
  unicode: false,
  logger: { ...console, warn: () => {} },
  code: { source: true, esm: true, optimize: 2 },
  schemas,
});
const pascal = (name) => name[0].toUpperCase() + name.slice(1);
const code = standalone.default(
  ajv,
  Object.fromEntries(names.map((name, i) => [`validate${pascal(name)}`, schemas[i].$id])),
);
if (/\brequire\(|\bimport\b/.test(code)) throw new Error('the validators must not need ajv at run time');
const text = [
  '// @ts-nocheck: generated from schemas/*.schema.json by scripts/generate-validators.mjs; never edited by hand.',
  ...names.map(
    (name, i) =>
      `/** \`schemas/${name}.schema.json\`, to look descriptions up. */\nexport const ${name}Schema = ${JSON.stringify(schemas[i], null, 1)};`,
  ),
  code.replace('"use strict";', ''),
  '',
].join('\n');
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${target} is stale: node scripts/generate-validators.mjs\n`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
