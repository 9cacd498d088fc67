/** The part of an enumeration that runs: a few cases in `npm test`, a share in `.ci/run`, all in `npm run nightly`. */
const depth = process.env['MESHWRIGHT_DEPTH'] ?? 'few';
if (!['few', 'share', 'whole'].includes(depth)) throw new Error('MESHWRIGHT_DEPTH must be few, share or whole');

/** True if every case is tried. */
export const isWhole = depth === 'whole';

/** True if more than the few cases of `npm test` are tried. */
export const isThorough = depth !== 'few';

const seedText = process.env['MESHWRIGHT_COMMIT'] ?? process.env['MESHWRIGHT_SEED'] ?? '20261120';

/** The seed of every sample, 32 bits: `.ci/run` takes it from the commit, `npm run nightly` from its `--seed`. */
export const sampleSeed = [...seedText].reduce(
  (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0,
  2_166_136_261,
);

/** Numbers below 2^32 that are derived from a seed and sufficiently well distributed. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

/** The number of cases of an enumeration that are tried. */
export interface SampleSize {
  /** The number of cases in `npm test`. */
  readonly few: number;
  /** In `.ci/run`: one case in this many, but at least `few`. */
  readonly oneIn: number;
}

/** The cases to try, in the order of the list. */
export function sampleOf<T>(all: readonly T[], { few, oneIn }: SampleSize): readonly T[] {
  if (isWhole) return all;
  return drawn(all, depth === 'few' ? few : Math.max(few, Math.ceil(all.length / oneIn)));
}

/** This many cases, drawn by the seed, in the order of the list. */
export function drawn<T>(all: readonly T[], count: number): readonly T[] {
  const random = numbers(sampleSeed);
  const order = all.map(() => random.next().value);
  const shuffled = [...all.keys()].toSorted((a, b) => (order[a] ?? 0) - (order[b] ?? 0));
  const chosen = new Set(shuffled.slice(0, count));
  return all.filter((_, at) => chosen.has(at));
}

/**
 * Offsets below a length: all in `npm run nightly`; otherwise every so many, starting at an offset drawn by the seed.
 */
export function* offsets(length: number, { from = 0, oneIn }: { readonly from?: number; readonly oneIn: number }) {
  const step = isWhole ? 1 : oneIn;
  for (let at = from + (sampleSeed % step); at < length; at += step) yield at;
}
