import { jsonEntries } from './safetensors.ts';

/** The members of a `config.json` that say something about shape, by name. */
export type ConfigFields = ReadonlyMap<string, unknown>;

const languagePart = ['text_config', 'llm_config', 'language_config'];

/** The members of a configuration; those of its language part, where it has one, come before those beside it. */
export function configFields(text: string): ConfigFields | undefined {
  const entries = jsonEntries(text);
  if (entries === undefined) return undefined;
  const whole = new Map(entries);
  const inner = languagePart.map((key) => membersOf(whole.get(key))).find((found) => found.size > 0);
  return new Map([...whole, ...(inner ?? []), ...named(whole, 'model_type')]);
}

/** The name of the whole counts, also where its language part has one of its own. */
const named = (fields: ConfigFields, key: string): readonly (readonly [string, unknown])[] =>
  fields.has(key) ? [[key, fields.get(key)]] : [];

/** The members of a value that is an object; none of anything else. */
export const membersOf = (value: unknown): ConfigFields =>
  new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);

/** The first of these fields that is a whole number from 1 to a billion. */
export function countOf(fields: ConfigFields, ...keys: readonly string[]): number | undefined {
  return keys
    .map((key) => fields.get(key))
    .find(
      (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9,
    );
}

/** A field that is a text of at most 64 characters that names can have. */
export function nameOf(fields: ConfigFields, key: string): string | undefined {
  const value = fields.get(key);
  return isName(value) ? value : undefined;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** A field that is a list of up to eight such names; empty for anything else. */
export function namesOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.length <= 8 && value.every(isName) ? value : [];
}

/** A field that is a list of texts; empty for anything else. */
export function wordsOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : [];
}
