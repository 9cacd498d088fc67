/** The numbers at the beginning of a version of a Python package: `0.31.3.post1` → 0, 31, 3. */
const numbersOf = (version: string): readonly number[] =>
  (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);

/** Whether one version of a Python package is older than another one, by their numbers alone. */
export function isBelow(version: string, other: string): boolean {
  const [mine, theirs] = [numbersOf(version), numbersOf(other)];
  for (let at = 0; at < Math.max(mine.length, theirs.length); at += 1) {
    const difference = (mine[at] ?? 0) - (theirs[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
