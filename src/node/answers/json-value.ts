/** Narrowing of parsed JSON: each gives the value or `undefined`, never throws. */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, unless it is an array or no object at all. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The value as a list. */
export const asList = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? (value as readonly unknown[]) : undefined;

/** The object's own text under a key. */
export function textOf(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
