/** The parts of a text, such as the words in `'a b c'`. */
export type PartsOf<Text extends string, Between extends string> = Text extends `${infer First}${Between}${infer Rest}`
  ? First | PartsOf<Rest, Between>
  : Text;

/** Compares texts by their code units, so that the order is the same on every computer. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Joins adjacent strings and drops empty ones, so that equal texts are equal values. */
export function joinText<Part>(parts: readonly (string | Part)[]): readonly (string | Part)[] {
  const joined: (string | Part)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else if (part !== '') joined.push(part);
  }
  return joined;
}

/** Compares lists of numbers, such as versions; missing numbers count as 0. Negative if the first list is lower. */
export function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const at = Array.from({ length: Math.max(a.length, b.length) }, (_, index) => (a[index] ?? 0) - (b[index] ?? 0));
  return at.find((difference) => difference !== 0) ?? 0;
}

/** Memoizes a function whose value depends only on its key. */
export function oncePer<Key extends object, Value extends object>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const cached = made.get(key);
    if (cached !== undefined) return cached;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** Groups things by a text key; leaves out things without a key. */
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

/** Each value with its count, in the order of first appearance. */
export function tally<T extends string | number>(values: readonly T[]): readonly (readonly [T, number])[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts];
}

/** Groups like {@link groupBy}; returns each group as its first thing and all its things. */
export const alike = <T>(
  things: readonly T[],
  keyOf: (thing: T) => string | undefined,
): readonly (readonly [first: T, all: readonly T[]])[] =>
  [...groupBy(things, keyOf).values()].flatMap((all) => all.slice(0, 1).map((first) => [first, all] as const));

/** `a, b and c`; empty for an empty list. */
export function listText(words: readonly string[], last = 'and'): string {
  const head = words.slice(0, -1).join(', ');
  const tail = words.at(-1) ?? '';
  return head === '' ? tail : `${head} ${last} ${tail}`;
}

/** Every pair of members, in the order of the list. */
export const everyPair = <T>(members: readonly T[]): readonly (readonly [T, T])[] =>
  members.flatMap((one, at) => members.slice(at + 1).map((other) => [one, other] as const));

/** Every pair of members in both directions. */
export const orderedPairs = <T>(members: readonly T[]): readonly (readonly [T, T])[] =>
  members.flatMap((one) => members.filter((other) => other !== one).map((other) => [one, other] as const));

/** The median; undefined for an empty list. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
