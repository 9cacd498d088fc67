/**
 * Adds an entry to the line and waits until the entry's `start` is called; undefined if `signal` aborts first. The
 * caller must remove the entry from the line before it calls `start`.
 */
export function waitInLine<Entry, Value>(
  line: Entry[],
  signal: AbortSignal,
  entryWith: (start: (value: Value) => void) => Entry,
): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const leave = (): void => {
      line.splice(line.indexOf(entry), 1);
      resolve(undefined);
    };
    const entry = entryWith((value) => {
      signal.removeEventListener('abort', leave);
      resolve(value);
    });
    signal.addEventListener('abort', leave, { once: true });
    line.push(entry);
  });
}
