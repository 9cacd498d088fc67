/** The same function, which makes its value once for each key and then gives that: for a value that follows from the key alone. */
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
