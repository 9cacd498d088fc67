/**
 * Waits in a line until the entry's `start` is called; undefined if `signal` is aborted first, which takes the entry out
 * of the line. The caller of `start` takes it out before.
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
