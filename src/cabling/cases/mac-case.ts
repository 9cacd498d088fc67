/** One face of a Mac; `left` and `right` are those of a person who sits before it. */
export type CaseSide = 'front' | 'back' | 'left' | 'right';

/** How many Thunderbolt sockets one face of the case has. */
export interface CaseFace {
  readonly side: CaseSide;
  readonly sockets: number;
  /** Who says so. */
  readonly source: string;
}

/** Where on the case a receptacle is, as far as anybody said; what is absent is not known. */
export interface CasePlace {
  /** The number that macOS prints. */
  readonly receptacle: number;
  readonly side: CaseSide;
  /** From 1, counted from the left among the Thunderbolt sockets of that face, for whoever looks at the face. */
  readonly column?: number;
  /** `back, next to Ethernet`: to be said at the rack. */
  readonly words: string;
  /** Who says so, or what it follows from. */
  readonly source: string;
}

/** The case that some models share. */
export interface MacCase {
  /** Identifiers as `hw.model` has them. */
  readonly models: readonly string[];
  readonly faces: readonly CaseFace[];
  /** Only receptacles whose place somebody saw or that can be nowhere else: a number says nothing of the hole by itself. */
  readonly places: readonly CasePlace[];
}
