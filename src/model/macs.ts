/** A face of the case; left and right as seen by a person in front of the Mac. */
export type CaseSide = 'front' | 'back' | 'left' | 'right';

/** How many Thunderbolt receptacles one face of the case has. */
export interface CaseFace {
  readonly side: CaseSide;
  readonly sockets: number;
}

/** A receptacle's place on the case. */
export interface CasePlace {
  /** The number that macOS prints. */
  readonly receptacle: number;
  readonly side: CaseSide;
  /** Position from the left among this face's Thunderbolt receptacles, as seen from in front of the face; from 1. */
  readonly column?: number;
  /** For a person at the rack: `back, next to Ethernet`. */
  readonly words: string;
}

/** A Mac model in the table. */
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
  /** Empty if the faces differ between Macs of this model. */
  readonly faces: readonly CaseFace[];
  /** Only receptacles with a published or unambiguous place. */
  readonly places: readonly CasePlace[];
  /** Receptacles to leave free if possible. */
  readonly avoid: readonly number[];
  /** Memory bandwidth in GB/s (10^9 bytes), one for each variant of the chip, lowest first. */
  readonly memoryGigabytesPerSecond: readonly number[];
  /** The first macOS for this model; older ones do not boot. */
  readonly firstMacos: string;
  readonly source: string;
  /** Columns with values from general knowledge, without a checked source. */
  readonly unconfirmed?: readonly ('memory' | 'bandwidth' | 'first macOS')[];
}

/** Models that share a row of the table. */
interface MacRow extends Omit<MacModel, 'name'> {
  readonly ids: readonly string[];
  readonly family: string;
}

const face = (side: CaseSide, sockets: number): CaseFace => ({ side, sockets });

/** All receptacles of these Macs are on the back; the numbers of the places are not published. */
const allOnBack = (from: number, to: number): readonly CasePlace[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ receptacle: from + index, side: 'back', words: 'back' }));

/**
 * Receptacle 1 of a Mac Studio, `en2`: exo says that it is the one next to Ethernet, and a Mac15,14 reports the same.
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

/** Made from Apple's "Identify your Mac" and specification pages. */
const identified = 'dev7a/rdmalink HardwareModel.swift (Apple pages read 2026-09-20 to 30), five more public tables';
const specifications = "Apple's technical specifications";

const everything = ['memory', 'bandwidth', 'first macOS'] as const;
const allButMemory = ['bandwidth', 'first macOS'] as const;

/** On the Mac Studios with Thunderbolt 5 receptacle 1 is the doubtful one: see `avoidReason`. */
const studio = { family: 'Mac Studio', avoid: [1], thunderbolt: 5 } as const;
const studioUltra = {
  ...studio,
  receptacles: 6,
  faces: [face('back', 4), face('front', 2)],
  places: [nextToEthernet],
} as const;

const studioMax = {
  ...studio,
  receptacles: 4,
  faces: [face('back', 4)],
  places: [nextToEthernet, ...allOnBack(2, 4)],
} as const;

/** Thunderbolt 4 carries no RDMA, so single receptacles are not described. */
const older = { source: identified, unconfirmed: everything, thunderbolt: 4, avoid: [] } as const;
const olderUltra = { ...studioUltra, ...older, places: [] } as const;
const olderMax = { ...studioMax, ...older, places: allOnBack(1, 4) } as const;
const mini = {
  family: 'Mac mini',
  receptacles: 3,
  faces: [face('back', 3)],
  places: allOnBack(1, 3),
  avoid: [],
  source: identified,
} as const;

const macbookPro = {
  family: 'MacBook Pro',
  receptacles: 3,
  faces: [face('left', 2), face('right', 1)],
  places: [],
  avoid: [],
  source: identified,
} as const;

/** The supported Macs, newest first within each family. */
export const macTable: readonly MacRow[] = [
  {
    ...studioUltra,
    ids: ['Mac17,15'],
    chip: 'M5 Ultra',
    memoryGb: [96, 256],
    memoryGigabytesPerSecond: [1200],
    firstMacos: '27.0',
    source: `${identified}; bandwidth: four public reports; macOS: three captures of 27.0 and 27.0.1`,
  },
  {
    ...studioMax,
    ids: ['Mac17,14'],
    chip: 'M5 Max',
    memoryGb: [36, 128],
    memoryGigabytesPerSecond: [614],
    firstMacos: '27.0',
    source: `${identified}; bandwidth: three public reports; macOS: three captures of 27.0.1`,
  },
  {
    ...studioUltra,
    places: m3UltraPlaces,
    ids: ['Mac15,14'],
    chip: 'M3 Ultra',
    memoryGb: [96, 512],
    memoryGigabytesPerSecond: [819],
    firstMacos: '15.3',
    source: `${identified}; places: dev7a/rdmalink InventoryPortTests.swift, read on a Mac 2026-09-19`,
    unconfirmed: allButMemory,
  },
  {
    ...studioMax,
    ids: ['Mac16,9'],
    chip: 'M4 Max',
    memoryGb: [36, 128],
    memoryGigabytesPerSecond: [410, 546],
    firstMacos: '15.3',
    source: identified,
    unconfirmed: allButMemory,
  },
  {
    ...olderUltra,
    ids: ['Mac14,14'],
    chip: 'M2 Ultra',
    memoryGb: [64, 192],
    memoryGigabytesPerSecond: [800],
    firstMacos: '13.4',
  },
  {
    ...olderMax,
    ids: ['Mac14,13'],
    chip: 'M2 Max',
    memoryGb: [32, 96],
    memoryGigabytesPerSecond: [400],
    firstMacos: '13.4',
  },
  {
    ...olderUltra,
    ids: ['Mac13,2'],
    chip: 'M1 Ultra',
    memoryGb: [64, 128],
    memoryGigabytesPerSecond: [800],
    firstMacos: '12.3',
    source: specifications,
  },
  {
    ...olderMax,
    ids: ['Mac13,1'],
    chip: 'M1 Max',
    memoryGb: [32, 64],
    memoryGigabytesPerSecond: [400],
    firstMacos: '12.3',
    source: specifications,
  },
  {
    ...mini,
    ids: ['Mac17,16'],
    chip: 'M5 Pro',
    memoryGb: [24, 64],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [307],
    firstMacos: '27.0',
    unconfirmed: everything,
  },
  {
    ...mini,
    ids: ['Mac18,5'],
    chip: 'M6',
    memoryGb: [16, 32],
    thunderbolt: 4,
    memoryGigabytesPerSecond: [170],
    firstMacos: '27.0',
    source: `${identified}; macOS: two build manifests of 26A428; bandwidth: one public report`,
    unconfirmed: ['memory'],
  },
  {
    ...mini,
    ids: ['Mac16,11'],
    chip: 'M4 Pro',
    memoryGb: [24, 64],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [273],
    firstMacos: '15.1',
    source: `${identified}; chip: build manifest (0x6040)`,
    unconfirmed: allButMemory,
  },
  {
    ...mini,
    ids: ['Mac16,10'],
    chip: 'M4',
    memoryGb: [16, 32],
    thunderbolt: 4,
    memoryGigabytesPerSecond: [120],
    firstMacos: '15.1',
    source: `${identified}; chip: build manifest (0x8132)`,
    unconfirmed: allButMemory,
  },
  {
    ...mini,
    ids: ['Mac14,12'],
    chip: 'M2 Pro',
    memoryGb: [16, 32],
    receptacles: 4,
    thunderbolt: 4,
    faces: [face('back', 4)],
    places: allOnBack(1, 4),
    memoryGigabytesPerSecond: [200],
    firstMacos: '13.2',
    unconfirmed: everything,
  },
  {
    ...mini,
    ids: ['Mac14,3'],
    chip: 'M2',
    memoryGb: [8, 24],
    receptacles: 2,
    thunderbolt: 4,
    faces: [face('back', 2)],
    places: allOnBack(1, 2),
    memoryGigabytesPerSecond: [100],
    firstMacos: '13.2',
    unconfirmed: everything,
  },
  {
    ids: ['Mac14,8'],
    family: 'Mac Pro',
    chip: 'M2 Ultra',
    memoryGb: [64, 192],
    receptacles: 8,
    thunderbolt: 4,
    faces: [],
    places: [],
    avoid: [],
    memoryGigabytesPerSecond: [800],
    firstMacos: '13.4',
    source: identified,
    unconfirmed: everything,
  },
  {
    ...macbookPro,
    ids: ['Mac17,6', 'Mac17,7'],
    chip: 'M5 Max',
    memoryGb: [36, 128],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [460, 614],
    firstMacos: '26.3',
    unconfirmed: ['memory', 'first macOS'],
  },
  {
    ...macbookPro,
    ids: ['Mac17,8', 'Mac17,9'],
    chip: 'M5 Pro',
    memoryGb: [24, 64],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [307],
    firstMacos: '26.3',
    unconfirmed: ['memory', 'first macOS'],
  },
  {
    ...macbookPro,
    ids: ['Mac17,2'],
    chip: 'M5',
    memoryGb: [16, 32],
    thunderbolt: 4,
    memoryGigabytesPerSecond: [153],
    firstMacos: '26.0',
    unconfirmed: everything,
  },
  {
    ...macbookPro,
    ids: ['Mac16,5', 'Mac16,6'],
    chip: 'M4 Max',
    memoryGb: [36, 128],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [410, 546],
    firstMacos: '15.1',
    unconfirmed: everything,
  },
  {
    ...macbookPro,
    ids: ['Mac16,7', 'Mac16,8'],
    chip: 'M4 Pro',
    memoryGb: [24, 48],
    thunderbolt: 5,
    memoryGigabytesPerSecond: [273],
    firstMacos: '15.1',
    unconfirmed: everything,
  },
  {
    ...macbookPro,
    ids: ['Mac16,1'],
    chip: 'M4',
    memoryGb: [16, 32],
    thunderbolt: 4,
    memoryGigabytesPerSecond: [120],
    firstMacos: '15.1',
    unconfirmed: everything,
  },
  {
    ...macbookPro,
    ids: ['Mac15,6', 'Mac15,7', 'Mac15,8', 'Mac15,9', 'Mac15,10', 'Mac15,11'],
    chip: 'M3 Pro or M3 Max',
    memoryGb: [18, 128],
    thunderbolt: 4,
    memoryGigabytesPerSecond: [150, 300, 400],
    firstMacos: '14.1',
    unconfirmed: everything,
  },
];

const modelsById: ReadonlyMap<string, MacModel> = new Map(
  macTable.flatMap(({ ids, family, ...row }) => ids.map((id) => [id, { ...row, name: `${family} (${row.chip})` }])),
);

/** The identifiers (`hw.model`) of every model in the table. */
export const macModelIds: readonly string[] = [...modelsById.keys()];

/** A model in the table; undefined for unknown identifiers. */
export const macModel = (id: string): MacModel | undefined => modelsById.get(id);

/** Whether a model is known to have only Thunderbolt 4, which rules out RDMA; false for unknown models. */
export const neverHasRdma = (id: string | undefined): boolean =>
  id !== undefined && modelsById.get(id)?.thunderbolt === 4;

/** The date of the last comparison with the sources. */
export const macModelsDate = '2026-11-21';

/** Why to leave a receptacle in `avoid` free, as a sentence. */
export const avoidReason = (name: string, receptacle: number): string =>
  `On a ${name} receptacle ${receptacle} is the one next to Ethernet; exo's README says not to use it for RDMA.`;
