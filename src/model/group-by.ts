/** Groups things by a text; things without one are left out. */
export function groupBy<T>(
  things: readonly T[],
  keyOf: (thing: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    if (key !== undefined) {
      groups.set(key, [...(groups.get(key) ?? []), thing]);
    }
  }
  return groups;
}
