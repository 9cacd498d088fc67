/** Longer words are never compared: the cost grows with the product of both lengths. */
const longestWord = 64;

/**
 * Damerau-Levenshtein distance (optimal string alignment): how many letters must be inserted, removed, replaced, or
 * swapped with their neighbour to make one word of the other.
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(isSwap ? Math.min(best, (beforeLast[j - 2] ?? 0) + 1) : best);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}

/** The one candidate that is most likely meant; undefined when none is near or several are equally near. Case is ignored. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  let nearest: readonly string[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate.length > longestWord) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance === shortest) nearest = [...nearest, candidate];
    else if (distance < shortest) [nearest, shortest] = [[candidate], distance];
  }
  const [only, ...others] = nearest;
  if (only === undefined || others.length > 0) return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(word.length, only.length) / 3));
  return shortest <= allowed && shortest < word.length ? only : undefined;
}

/** `a, b and c`; nothing for an empty list. */
export function listText(words: readonly string[], last = 'and'): string {
  const head = words.slice(0, -1).join(', ');
  const tail = words.at(-1) ?? '';
  return head === '' ? tail : `${head} ${last} ${tail}`;
}
