/** Makes validators from the schemas of the files that are read, so that no schema is compiled at start-up. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';

/** Problems of journals are only counted: no message needs its descriptions. */
const isDescribed = (name) => name !== 'journal';

const pascal = (name) => name[0].toUpperCase() + name.slice(1);

/** One module that judges documents of these schemas. */
export function validators(names) {
  const schemas = names.map((name) => JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8')));
  // Lengths bound ASCII text, or sentences whose bound is arbitrary, so `unicode: false` (code units) is exact enough and
  // needs no run-time import.
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: true,
    allErrors: true,
    // Problems are put into our own words.
    messages: false,
    ownProperties: true,
    unicode: false,
    logger: { ...console, warn: () => {} },
    code: { source: true, esm: true, optimize: 2 },
    schemas,
  });
  const code = standalone.default(
    ajv,
    Object.fromEntries(names.map((name, i) => [`validate${pascal(name)}`, schemas[i].$id])),
  );
  if (/\brequire\(|\bimport\b/.test(code)) throw new Error('the validators must not need ajv at run time');
  return [
    '// @ts-nocheck: made by a compiler of schemas.',
    ...names.flatMap((name, i) =>
      isDescribed(name)
        ? `/** \`schemas/${name}.schema.json\`, to look descriptions up. */\nexport const ${name}Schema = ${JSON.stringify(schemas[i], null, 1)};`
        : [],
    ),
    code.replace('"use strict";', ''),
    '',
  ].join('\n');
}
