/** A face of the case; left and right as seen by a person in front of the Mac. */
export type CaseSide = 'front' | 'back' | 'left' | 'right';

/** How many Thunderbolt receptacles one face of the case has. */
export interface CaseFace {
  readonly side: CaseSide;
  readonly sockets: number;
}

/** Where on the case a receptacle is. */
export interface CasePlace {
  /** The number that macOS prints. */
  readonly receptacle: number;
  readonly side: CaseSide;
  /** Counted from the left among the Thunderbolt receptacles of this face, as seen by a person who looks at it; from 1. */
  readonly column?: number;
  /** For a person at the rack: `back, next to Ethernet`. */
  readonly words: string;
}

/** What is known about a model of Mac by its identifier. */
export interface MacModel {
  /** `Mac Studio (M5 Ultra)`. */
  readonly name: string;
  readonly chip: string;
  /** The smallest and the largest memory that Apple has sold, in its own GB (2^30 bytes). For docs/macs.md only. */
  readonly memoryGb: readonly [number, number];
  /** How many Thunderbolt receptacles it has; macOS numbers them from 1. */
  readonly receptacles: number;
  /** RDMA over Thunderbolt needs 5. @see Apple TN3205 */
  readonly thunderbolt: 4 | 5;
  /** Empty where the faces differ between Macs of this model. */
  readonly faces: readonly CaseFace[];
  /** Only receptacles whose place is published, or that can be nowhere else. */
  readonly places: readonly CasePlace[];
  /** Receptacles that are better left free. */
  readonly avoid: readonly number[];
  /** Memory bandwidth in GB/s (10^9 bytes), one for each variant of the chip, lowest first. */
  readonly memoryGigabytesPerSecond: readonly number[];
  /** The macOS that the first Macs of this model came with; no older one starts on it. */
  readonly firstMacos: string;
  readonly source: string;
  /** Columns whose value comes from general knowledge, without a page that was read for this table. */
  readonly unconfirmed?: readonly ('memory' | 'bandwidth' | 'first macOS')[];
}

/** Models that share a row of the table. */
export interface MacRow extends Omit<MacModel, 'name'> {
  readonly ids: readonly string[];
  readonly family: string;
}
