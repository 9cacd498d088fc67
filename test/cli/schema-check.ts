import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** A check of documents against `NAME.schema.json`, which returns their errors. */
export function schemaCheck(name: string, folder = 'schemas'): (document: unknown) => readonly string[] {
  const text = readFileSync(new URL(`../../${folder}/${name}.schema.json`, import.meta.url), 'utf8');
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(JSON.parse(text));
  return (document) => {
    validate(document);
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}
