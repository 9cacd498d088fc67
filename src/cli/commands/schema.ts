import { readdirSync, readFileSync } from 'node:fs';
import { exitCode } from '../exit-codes.ts';
import { usageError } from '../options.ts';
import type { VerbBody } from '../verb.ts';

const folder = new URL('../../../schemas/', import.meta.url);

/** `schema [NAME]`: prints one of the JSON schemas that this version works with; the cluster file's by default. */
export const schema: VerbBody = async (run) => {
  const [name = 'cluster', extra] = run.words;
  const names = readdirSync(folder)
    .flatMap((file) => /^(.+)\.schema\.json$/.exec(file)?.[1] ?? [])
    .sort();
  if (extra !== undefined || !names.includes(name)) {
    throw usageError(`There is no schema "${extra ?? name}".`, `Schemas: ${names.join(', ')}`);
  }
  run.console.out(readFileSync(new URL(`${name}.schema.json`, folder), 'utf8'));
  return exitCode.done;
};
