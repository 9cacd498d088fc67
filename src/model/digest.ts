import { createHash } from 'node:crypto';

/** A SHA-256 as 64 lower-case hexadecimal digits. */
export type Digest = string & { readonly brand: 'Digest' };

/** Brands a text whose form is already verified. */
export const digest = (text: string): Digest => text as Digest;

/** The first 16 digits, used in folder names on nodes and on screens. */
export const shortDigest = (whole: Digest): string => whole.slice(0, 16);

/** JSON with sorted keys and without blanks: equal values have equal texts. Undefined values are left out. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((one: Json) => canonicalJson(one)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `{${sorted.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(',')}}`;
}

export const digestOf = (value: Json): Digest =>
  digest(createHash('sha256').update(canonicalJson(value)).digest('hex'));

/** Parses a JSON text; undefined if the text is not valid JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a JSON object unchanged; undefined for lists and everything else. */
export const jsonObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;

/** A value that JSON can represent: plans, records and node scripts consist of such values. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
