/**
 * Waits in a line until the entry's `start` is called; undefined if `signal` is aborted first, which removes the entry
 * from the line. The caller removes the entry before it calls `start`.
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
