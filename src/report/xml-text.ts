import { escapeText } from '../diagnostics/escape.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for XML, in an element or in quotes: what is not plainly visible is written as `\u{…}`, so it is always well formed. */
export const xmlText = (text: string): string =>
  escapeText(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** `<name a="1">content</name>`; an attribute that is undefined is left out. The content is XML already. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content = '',
): string {
  const written = Object.entries(attributes)
    .flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${attributeText(value)}"`]))
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** Numbers with one decimal at most, so that the same drawing is the same bytes everywhere. */
const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10 + 0) : xmlText(value);
