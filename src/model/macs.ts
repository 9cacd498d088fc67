/** A face of the case; left and right as seen by a person in front of the Mac. */
export type CaseSide = 'front' | 'back' | 'left' | 'right';

/** The number of Thunderbolt receptacles on one face of the case. */
export interface CaseFace {
  readonly side: CaseSide;
  readonly sockets: number;
}

/** A receptacle's position on the case. */
export interface CasePlace {
  /** The receptacle's number in macOS. */
  readonly receptacle: number;
  readonly side: CaseSide;
  /** Position among this face's Thunderbolt receptacles, counted from 1 at the left when you look at the face. */
  readonly column?: number;
  /** For a person at the rack: `back, next to Ethernet`. */
  readonly words: string;
}

/** A Mac model in the table. */
export interface MacModel {
  /** `Mac Studio (M5 Ultra)`. */
  readonly name: string;
  readonly chip: string;
  /** The smallest and largest memory that Apple has sold, in Apple's GB (2^30 bytes). Only for docs/macs.md. */
  readonly memoryGb: readonly [number, number];
  /** Number of Thunderbolt receptacles; macOS numbers them from 1. */
  readonly receptacles: number;
  /** The Thunderbolt version; RDMA needs 5. @see Apple TN3205 */
  readonly thunderbolt: 4 | 5;
  /** Empty if the faces differ between Macs of this model. */
  readonly faces: readonly CaseFace[];
  /** Only the receptacles with a published or unambiguous position. */
  readonly places: readonly CasePlace[];
  /** Receptacles to leave free if possible. */
  readonly avoid: readonly number[];
  /** Memory bandwidth in GB/s (10^9 bytes), one value for each variant of the chip, lowest first. */
  readonly memoryGigabytesPerSecond: readonly number[];
  /** The first macOS version for this model; older versions do not boot. */
  readonly firstMacos: string;
  readonly source: string;
  /** Columns whose values are general knowledge, without a checked source. */
  readonly unconfirmed?: readonly ('memory' | 'bandwidth' | 'first macOS')[];
}

/** Models that share a row of the table. */
interface MacRow extends Omit<MacModel, 'name'> {
  readonly ids: readonly string[];
  readonly family: string;
}

/** The columns that Macs with the same case have in common. */
type MacCase = Omit<MacRow, 'ids' | 'chip' | 'memoryGb' | 'memoryGigabytesPerSecond' | 'firstMacos'>;

const face = (side: CaseSide, sockets: number): CaseFace => ({ side, sockets });

/** All receptacles of these Macs are on the back; which number is where has not been published. */
const allOnBack = (from: number, to: number): readonly CasePlace[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ receptacle: from + index, side: 'back', words: 'back' }));

/**
 * Receptacle 1 of a Mac Studio, `en2`: according to exo it is next to Ethernet, and a Mac15,14 reports the same.
 *
 * @see exo-explore/exo README and pull request 1551; dev7a/rdmalink InventoryPortTests.swift
 */
const nextToEthernet: CasePlace = { receptacle: 1, side: 'back', column: 4, words: 'back, next to Ethernet' };

/** @see dev7a/rdmalink InventoryPortTests.swift: the device tree of a Mac15,14, read 2026-09-19 */
const m3UltraPlaces: readonly CasePlace[] = [
  nextToEthernet,
  { receptacle: 2, side: 'back', column: 3, words: 'back, 2nd from Ethernet' },
  { receptacle: 3, side: 'back', column: 2, words: 'back, 3rd from Ethernet' },
  { receptacle: 4, side: 'back', column: 1, words: 'back, 4th from Ethernet' },
  { receptacle: 5, side: 'front', column: 2, words: 'front, right' },
  { receptacle: 6, side: 'front', column: 1, words: 'front, left' },
];

/** A table based on Apple's "Identify your Mac" and specification pages. */
const identified = 'dev7a/rdmalink HardwareModel.swift (Apple pages read 2026-09-20 to 30), five more public tables';
const specifications = "Apple's technical specifications";

const everything = ['memory', 'bandwidth', 'first macOS'] as const;
const allButMemory = ['bandwidth', 'first macOS'] as const;
const allButBandwidth = ['memory', 'first macOS'] as const;

/** On Mac Studios with Thunderbolt 5, receptacle 1 is doubtful: see `avoidReason`. */
const studio = { family: 'Mac Studio', avoid: [1], thunderbolt: 5, source: identified } as const;
const studioUltra: MacCase = {
  ...studio,
  receptacles: 6,
  faces: [face('back', 4), face('front', 2)],
  places: [nextToEthernet],
};

const studioMax: MacCase = {
  ...studio,
  receptacles: 4,
  faces: [face('back', 4)],
  places: [nextToEthernet, ...allOnBack(2, 4)],
};

/** Thunderbolt 4 does not support RDMA, so individual receptacles are not described. */
const older = { unconfirmed: everything, thunderbolt: 4, avoid: [] } as const;
const olderUltra: MacCase = { ...studioUltra, ...older, places: [] };
const olderMax: MacCase = { ...studioMax, ...older, places: allOnBack(1, 4) };

const mini = (thunderbolt: 4 | 5, receptacles: number): MacCase => ({
  family: 'Mac mini',
  receptacles,
  thunderbolt,
  faces: [face('back', receptacles)],
  places: allOnBack(1, receptacles),
  avoid: [],
  source: identified,
  unconfirmed: everything,
});

const macbookPro = (thunderbolt: 4 | 5): MacCase => ({
  family: 'MacBook Pro',
  receptacles: 3,
  thunderbolt,
  faces: [face('left', 2), face('right', 1)],
  places: [],
  avoid: [],
  source: identified,
  unconfirmed: everything,
});

const macPro: MacCase = { ...macbookPro(4), family: 'Mac Pro', receptacles: 8, faces: [] };

/**
 * Makes a row of the table. Memory is the smallest and largest size in GB; bandwidths are in GB/s. `own` contains the
 * columns in which these Macs differ from others with the same case.
 */
const row = (
  common: MacCase,
  ids: string,
  chip: string,
  memoryGb: MacModel['memoryGb'],
  memoryGigabytesPerSecond: readonly number[],
  firstMacos: string,
  own: Partial<MacCase> = {},
): MacRow => ({ ...common, ids: ids.split(' '), chip, memoryGb, memoryGigabytesPerSecond, firstMacos, ...own });

/** The supported Macs, newest first within each family. */
export const macTable: readonly MacRow[] = [
  row(studioUltra, 'Mac17,15', 'M5 Ultra', [96, 256], [1200], '27.0', {
    source: `${identified}; bandwidth: four public reports; macOS: three captures of 27.0 and 27.0.1`,
  }),
  row(studioMax, 'Mac17,14', 'M5 Max', [36, 128], [614], '27.0', {
    source: `${identified}; bandwidth: three public reports; macOS: three captures of 27.0.1`,
  }),
  row(studioUltra, 'Mac15,14', 'M3 Ultra', [96, 512], [819], '15.3', {
    places: m3UltraPlaces,
    source: `${identified}; places: dev7a/rdmalink InventoryPortTests.swift, read on a Mac 2026-09-19`,
    unconfirmed: allButMemory,
  }),
  row(studioMax, 'Mac16,9', 'M4 Max', [36, 128], [410, 546], '15.3', { unconfirmed: allButMemory }),
  row(olderUltra, 'Mac14,14', 'M2 Ultra', [64, 192], [800], '13.4'),
  row(olderMax, 'Mac14,13', 'M2 Max', [32, 96], [400], '13.4'),
  row(olderUltra, 'Mac13,2', 'M1 Ultra', [64, 128], [800], '12.3', { source: specifications }),
  row(olderMax, 'Mac13,1', 'M1 Max', [32, 64], [400], '12.3', { source: specifications }),
  row(mini(5, 3), 'Mac17,16', 'M5 Pro', [24, 64], [307], '27.0'),
  row(mini(4, 3), 'Mac18,5', 'M6', [16, 32], [170], '27.0', {
    source: `${identified}; macOS: two build manifests of 26A428; bandwidth: one public report`,
    unconfirmed: ['memory'],
  }),
  row(mini(5, 3), 'Mac16,11', 'M4 Pro', [24, 64], [273], '15.1', {
    source: `${identified}; chip: build manifest (0x6040)`,
    unconfirmed: allButMemory,
  }),
  row(mini(4, 3), 'Mac16,10', 'M4', [16, 32], [120], '15.1', {
    source: `${identified}; chip: build manifest (0x8132)`,
    unconfirmed: allButMemory,
  }),
  row(mini(4, 4), 'Mac14,12', 'M2 Pro', [16, 32], [200], '13.2'),
  row(mini(4, 2), 'Mac14,3', 'M2', [8, 24], [100], '13.2'),
  row(macPro, 'Mac14,8', 'M2 Ultra', [64, 192], [800], '13.4'),
  row(macbookPro(5), 'Mac17,6 Mac17,7', 'M5 Max', [36, 128], [460, 614], '26.3', { unconfirmed: allButBandwidth }),
  row(macbookPro(5), 'Mac17,8 Mac17,9', 'M5 Pro', [24, 64], [307], '26.3', { unconfirmed: allButBandwidth }),
  row(macbookPro(4), 'Mac17,2', 'M5', [16, 32], [153], '26.0'),
  row(macbookPro(5), 'Mac16,5 Mac16,6', 'M4 Max', [36, 128], [410, 546], '15.1'),
  row(macbookPro(5), 'Mac16,7 Mac16,8', 'M4 Pro', [24, 48], [273], '15.1'),
  row(macbookPro(4), 'Mac16,1', 'M4', [16, 32], [120], '15.1'),
  row(
    macbookPro(4),
    'Mac15,6 Mac15,7 Mac15,8 Mac15,9 Mac15,10 Mac15,11',
    'M3 Pro or M3 Max',
    [18, 128],
    [150, 300, 400],
    '14.1',
  ),
];

const modelsById: ReadonlyMap<string, MacModel> = new Map(
  macTable.flatMap(({ ids, family, ...row }) => ids.map((id) => [id, { ...row, name: `${family} (${row.chip})` }])),
);

/** The identifiers (`hw.model`) of all models in the table. */
export const macModelIds: readonly string[] = [...modelsById.keys()];

/** Finds a model in the table; undefined for unknown identifiers. */
export const macModel = (id: string): MacModel | undefined => modelsById.get(id);

/** The identifier of the first model in the table with this chip, such as `M3 Ultra`: Mac Studios come first. */
export const macIdOf = (chip: string): string | undefined => macTable.find((row) => row.chip === chip)?.ids[0];

/** True if a model is known to have only Thunderbolt 4, which does not support RDMA; false for unknown models. */
export const neverHasRdma = (id: string | undefined): boolean =>
  id !== undefined && modelsById.get(id)?.thunderbolt === 4;

/** Date of the table's last comparison with the sources. */
export const macModelsDate = '2026-11-21';

/** Explains in a sentence why a receptacle in `avoid` is better left free. */
export const avoidReason = (name: string, receptacle: number): string =>
  `On a ${name} receptacle ${receptacle} is the one next to Ethernet; exo's README says not to use it for RDMA.`;
