/**
 * Damerau-Levenshtein distance (optimal string alignment): the number of letters to insert, remove, replace or swap
 * with their neighbor. To save time, it stops counting above `atMost` and returns some larger number.
 */
export function editDistance(from: string, to: string, atMost = Number.POSITIVE_INFINITY): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  let lastLeast = 0;
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(isSwap ? Math.min(best, (beforeLast[j - 2] ?? 0) + 1) : best);
    }
    const least = Math.min(...row);
    // A swap reaches back two rows, so both must be too far.
    if (Math.min(least, lastLeast) > atMost) return least;
    lastLeast = least;
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}
