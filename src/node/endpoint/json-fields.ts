/** A JSON object whose keys nobody has judged yet, or nothing. */
export type Found = Readonly<Record<string, unknown>> | undefined;

/** Whether a value is a JSON object. */
export const isFound = (value: unknown): value is NonNullable<Found> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number of an object; undefined when there is none there. */
export function numberOf(found: Found, key: string): number | undefined {
  const value = found?.[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A text of an object; empty when there is none there. */
export function textOf(found: Found, key: string): string {
  const value = found?.[key];
  return typeof value === 'string' ? value : '';
}
