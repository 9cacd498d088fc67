/** The order of texts by their code units, the same on every computer. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
/** Memoizes a function by key; for values that depend only on the key. */
export function oncePer<Key extends object, Value extends object>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const kept = made.get(key);
    if (kept !== undefined) return kept;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** Groups things by a text; leaves out things without one. */
export function groupBy<T>(
  things: readonly T[],
  keyOf: (thing: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), thing]);
  }
  return groups;
}
