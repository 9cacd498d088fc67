/** More names than these are counted instead. */
const listedAtMost = 4;

/** `studio-1, studio-2`; `6 nodes` for more than four. */
export const nodesText = (names: readonly string[]): string =>
  names.length > listedAtMost ? `${names.length} nodes` : names.join(', ');

/** Fewer than these are listed. */
const shortestSpan = 3;

/** A name in two: `studio-` and `4`; without a number nothing is left behind the stem. */
const halvesOf = (name: string): readonly [string, string] => {
  const [, stem = name, digits = ''] = /^(.*?)(\d{1,9})$/.exec(name) ?? [];
  return [stem, digits];
};

/** `studio-1..4` for names that count upwards, `studio-1,4` for others of one stem; else as {@link nodesText}. */
export function nodeSpan(names: readonly string[]): string {
  const halves = names.map(halvesOf);
  const [[stem, first] = ['', '']] = halves;
  const numbers = halves.map(([, digits]) => digits);
  if (halves.some(([other, digits]) => other !== stem || digits === '')) return nodesText(names);
  const isCounted = numbers.every((digits, at) => digits === `${Number(first) + at}`.padStart(first.length, '0'));
  if (isCounted && names.length >= shortestSpan) return `${stem}${first}..${numbers.at(-1)}`;
  return names.length > listedAtMost ? nodesText(names) : `${stem}${numbers.join(',')}`;
}
