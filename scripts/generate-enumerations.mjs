/** Writes the names of scripts and resource kinds from the sources into the schemas of plans and playbooks. */
import { readFileSync } from 'node:fs';
import { resources } from '../src/engine/resources.ts';
import { scriptNames } from '../src/engine/scripts/registry.ts';
import { writePage } from './written-page.mjs';

const kindWords = resources.map(({ kind }) => kind);

/** Each schema, the description that precedes its enumeration, and the names. */
const enumerations = [
  ['schemas/plan.schema.json', "The script's name.", scriptNames],
  ['schemas/playbook.schema.json', 'A kind of resource, as named in plans.', kindWords],
];

for (const [path, description, names] of enumerations) {
  const old = readFileSync(path, 'utf8');
  const [before, list] = new RegExp(`"description": "${description}",\\s+"enum": (\\[[^\\]]*\\])`).exec(old) ?? [];
  if (list === undefined) throw new Error(`${path} has no enumeration after "${description}"`);
  const indent = /\n( *)"enum"/.exec(before)[1];
  const lines = names.map((name) => `${indent}  "${name}"`).join(',\n');
  writePage(
    path,
    old.replace(before, () => before.replace(list, () => `[\n${lines}\n${indent}]`)),
  );
}
