/** The Macs at the two ends: their model and their macOS version, as far as known. */
export type CableMacs = readonly ({ readonly model: string; readonly macos: string } | undefined)[];

/** One published measurement between two Macs of one model. */
export interface CableRating {
  /** Apple's identifier of both Macs' model. */
  readonly model: string;
  /** The major version of macOS; absent if the source does not name it. */
  readonly macos?: number;
  /** The median latency of one way, or the bound that the source gives. */
  readonly microseconds: number;
  /** In each direction; absent if not published. */
  readonly gigabytesPerSecond?: number;
  readonly source: string;
}

/** A verdict needs as many independent measurements as this of the same model and macOS. */
export const enoughSources = 3;

/** All published measurements that we know. Sources that repeat each other count once. */
export const cableRatings: readonly CableRating[] = [
  {
    model: 'Mac16,11',
    macos: 26,
    microseconds: 25.5,
    gigabytesPerSecond: 8.05,
    source: 'mlx-jaccl-cluster (hotwa and omar-karray): a link test between two M4 Pro',
  },
  {
    model: 'Mac15,14',
    macos: 26,
    microseconds: 50,
    source: 'Jeff Geerling, December 2025: four Mac Studio (M3 Ultra), below 50 µs instead of about 300 µs over TCP',
  },
];

const majorOf = (macos: string): number => Number(macos.split('.')[0]);

/** The published measurements of a cable whose Macs have the same model and the same major version of macOS. */
export function ratingsFor([a, b]: CableMacs, ratings: readonly CableRating[]): readonly CableRating[] {
  if (a === undefined || b === undefined || a.model !== b.model || majorOf(a.macos) !== majorOf(b.macos)) return [];
  return ratings.filter(({ model, macos }) => model === a.model && (macos ?? majorOf(a.macos)) === majorOf(a.macos));
}
