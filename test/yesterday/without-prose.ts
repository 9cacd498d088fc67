import { allowedByAdr } from './adr.ts';

const { names } = allowedByAdr();

/** Keys of documents whose values are sentences for people: their words may change with any release. */
const prose: readonly string[] = ['action', 'detail', 'evidence', 'from', 'hint', 'reason', 'says', 'summary', 'to'];

const isText = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/**
 * The same document without sentences, without fields that decision 16 lists (`changes[].kind`), and with commands without
 * `--sim`, which the old release sometimes left out.
 */
export function withoutProse(value: unknown, at = ''): unknown {
  if (typeof value === 'string') return value.replace(/ --sim$/, '');
  if (Array.isArray(value)) return value.map((one) => withoutProse(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return value;
  const pathOf = (key: string): string => (at === '' ? key : `${at}.${key}`);
  const kept = Object.entries(value).filter(
    ([key, inner]) => !(prose.includes(key) && isText(inner)) && !names.includes(pathOf(key)),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutProse(inner, pathOf(key))]));
}
