/** How many letters must be added, removed or replaced to make one word of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [column, against] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** Words longer than this are not worth comparing. */
const longest = 64;

/** The word that was probably meant; undefined when none is near. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  if (typed.length > longest) return undefined;
  const ranked = words
    .map((word) => ({ word, away: distance(typed, word) }))
    .sort((one, other) => one.away - other.away);
  const [best] = ranked;
  return best !== undefined && best.away <= Math.max(2, Math.floor(best.word.length / 3)) ? best.word : undefined;
}
