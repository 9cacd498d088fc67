/** The part of an enumeration that runs: a few cases in `npm test`, a share in CI, all in `npm run nightly`. */
const depths = ['few', 'share', 'whole'] as const;
type Depth = (typeof depths)[number];
const depth = depths.find((one) => one === (process.env['MESHWRIGHT_DEPTH'] ?? 'few'));
if (depth === undefined) throw new Error(`MESHWRIGHT_DEPTH must be one of ${depths.join(', ')}`);

/** True if every case is tried. */
export const isWhole = depth === 'whole';

/** True if more than the few cases of `npm test` are tried. */
export const isThorough = depth !== 'few';

const seedText = process.env['MESHWRIGHT_COMMIT'] ?? process.env['MESHWRIGHT_SEED'] ?? '20261120';

/** The seed of random cases, 32 bits: CI takes it from the commit, `npm run nightly` from its `--seed`. */
export const sampleSeed = [...seedText].reduce(
  (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0,
  2_166_136_261,
);

/** The number of commits up to this one. The samples of as many commits as a list has slices try all its cases. */
const position = Number(process.env['MESHWRIGHT_POSITION'] ?? 0);

/** The number of parts in which CI runs the slow files, one part per commit. */
export const partCount = 4;

/** The largest prime number up to this one, or 1. Slices by an odd one meet each of the four parts of CI. */
function primeUpTo(most: number): number {
  for (let number = Math.floor(most); number > 1; number -= 1) {
    const divisors = Array.from({ length: Math.floor(Math.sqrt(number)) - 1 }, (_, at) => at + 2);
    if (divisors.every((divisor) => number % divisor !== 0)) return number;
  }
  return 1;
}

/** The number of cases of an enumeration that are tried. */
export interface SampleSize {
  /** The number of cases in `npm test`. */
  readonly few: number;
  /** In CI: one case in this many, but at least `few`. */
  readonly oneIn: number;
}

const slice = <T>(all: readonly T[], slices: number, at: number): readonly T[] =>
  all.filter((_, index) => index % slices === at % slices);

/** The cases to try at a depth and position, in the order of the list: all, or every so many. */
export function casesAt<T>(all: readonly T[], { few, oneIn }: SampleSize, at: { depth: Depth; position: number }) {
  if (at.depth === 'whole') return all;
  const most = all.length / few;
  const slices = primeUpTo(at.depth === 'few' ? most : Math.min(oneIn, most));
  // Halves change with every round of the parts: with every commit, a file would always meet the same half.
  return slice(all, slices, slices === 2 ? Math.floor(at.position / partCount) : at.position);
}

/** The cases to try. */
export const sampleOf = <T>(all: readonly T[], size: SampleSize): readonly T[] =>
  casesAt(all, size, { depth: depth ?? 'few', position });

/** Every so many of a list, from an offset that moves with each commit. */
export const sliceOf = <T>(all: readonly T[], slices: number): readonly T[] => slice(all, slices, position);

/** Offsets below a length: all in `npm run nightly`; otherwise every so many, from an offset that moves too. */
export function* offsets(length: number, { from = 0, oneIn }: { readonly from?: number; readonly oneIn: number }) {
  const step = isWhole ? 1 : oneIn;
  for (let at = from + (position % step); at < length; at += step) yield at;
}
