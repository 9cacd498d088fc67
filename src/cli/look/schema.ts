import { readdirSync, readFileSync } from 'node:fs';
import { guess } from '../../desired/did-you-mean.ts';
import { exitCode } from '../exit-codes.ts';
import { showJsonText } from '../terminal/console.ts';
import { usageError, type VerbBody } from '../verb.ts';

const folder = new URL('../../../schemas/', import.meta.url);

export const schema: VerbBody = async (run) => {
  const [name = 'cluster'] = run.words;
  const names = readdirSync(folder)
    .flatMap((file) => /^(.+)\.schema\.json$/.exec(file)?.[1] ?? [])
    .sort();
  if (!names.includes(name))
    throw usageError(`Unknown schema ${JSON.stringify(name)}.`, `${guess(name, names)}Schemas: ${names.join(', ')}`);
  showJsonText(run.console, readFileSync(new URL(`${name}.schema.json`, folder), 'utf8'));
  return exitCode.done;
};
