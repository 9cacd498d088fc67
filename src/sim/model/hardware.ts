/** A network port that is no Thunderbolt receptacle. */
export interface NetworkPort {
  /** As `networksetup -listallhardwareports` titles it. */
  readonly port: string;
  readonly device: string;
  /** An adapter is one of the ports that macOS shows for docks, phones and front sockets. */
  readonly kind: 'ethernet' | 'wifi' | 'adapter';
}

/** What is the same for every Mac of one model. */
export interface MacModel {
  /** `hw.model`. */
  readonly id: string;
  /** What Thunderbolt peers and system_profiler call it, such as `Mac Studio`. */
  readonly family: string;
  readonly chip: string;
  /** Cores, in order: total and the kinds, as `number_processors` prints them after `proc `. An M5 has four numbers. */
  readonly processorText: string;
  /** What the cheapest one has, in GiB. */
  readonly defaultMemoryGib: number;
  /** The macOS of the first Macs of this model: no older one starts on it. */
  readonly firstMacos: string;
  readonly diskTotalKib: number;
  /** The network interface of each receptacle; the first is receptacle 1. */
  readonly receptacleDevices: readonly string[];
  readonly thunderbolt: 4 | 5;
  /** `port-location` of each receptacle in the device tree, the first of receptacle 1; absent: the Mac has none. */
  readonly portLocations?: readonly string[];
  readonly ports: readonly NetworkPort[];
  /** Laptops have a battery section in pmset and cannot restart by themselves. */
  readonly isLaptop: boolean;
}

const ethernet: NetworkPort = { port: 'Ethernet', device: 'en0', kind: 'ethernet' };
const wifi = (device: string): NetworkPort => ({ port: 'Wi-Fi', device, kind: 'wifi' });
const adapter = (device: string): NetworkPort => ({ port: `Ethernet Adapter (${device})`, device, kind: 'adapter' });

/** Seen as the size of an 8 TB Mac Studio and of a 1 TB Mac by `df -k`. */
const eightTerabytesKib = 7_811_085_600;
const oneTerabyteKib = 971_350_180;

/** @see dev7a/rdmalink InventoryPortTests.swift: a Mac15,14, read 2026-09-19. Of other models nothing is published. */
const studioBack = ['back-right', 'back-right-middle', 'back-left-middle', 'back-left'] as const;
const studioAll = [...studioBack, 'front-right', 'front-left'] as const;

/** A Mac Studio with an Ultra chip. */
const sixPorts = {
  family: 'Mac Studio',
  thunderbolt: 5,
  diskTotalKib: eightTerabytesKib,
  receptacleDevices: ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'],
  ports: [ethernet, adapter('en8'), wifi('en1')],
  firstMacos: '27.0',
  isLaptop: false,
} as const;

/** A Mac Studio with a Max chip. */
const fourPorts = {
  ...sixPorts,
  diskTotalKib: oneTerabyteKib,
  receptacleDevices: ['en2', 'en3', 'en4', 'en5'],
  ports: [ethernet, adapter('en6'), adapter('en7'), wifi('en1')],
} as const;

const mini = {
  ...fourPorts,
  family: 'Mac mini',
  receptacleDevices: ['en2', 'en3', 'en4'],
  ports: [ethernet, adapter('en5'), adapter('en6'), wifi('en1')],
} as const;

const laptop = {
  family: 'MacBook Pro',
  defaultMemoryGib: 36,
  diskTotalKib: oneTerabyteKib,
  thunderbolt: 5,
  isLaptop: true,
} as const;

/** The MacBook Pros with M5 Max: Thunderbolt 1, 2, 3 are en1, en6, en2 in two published captures. */
const m5MaxLaptop = {
  ...laptop,
  chip: 'Apple M5 Max',
  processorText: '18:6:0:12',
  firstMacos: '26.3',
  receptacleDevices: ['en1', 'en6', 'en2'],
  ports: [adapter('en3'), adapter('en4'), adapter('en5'), wifi('en0')],
  // The three words were read on a Mac17,7; which of them is whose is a guess.
  portLocations: ['left-back', 'left-front', 'right'],
} as const;

const m4MaxLaptop = {
  ...laptop,
  chip: 'Apple M4 Max',
  processorText: '14:10:4',
  firstMacos: '15.1',
  receptacleDevices: ['en1', 'en2', 'en3'],
  ports: [adapter('en4'), adapter('en5'), adapter('en6'), wifi('en0')],
} as const;

/**
 * Every model that can be simulated, by `hw.model`. Receptacles, chips and Thunderbolt generations: Apple's
 * technical specifications and TN3205; the interfaces of Mac15,14 and Mac17,7: published captures of
 * `networksetup -listallhardwareports`; those of Mac16,11: TN3205. `number_processors` of the M5 Max and the M5 Ultra:
 * published outputs of `system_profiler`. The others follow these and are unconfirmed.
 */
const macModels: Readonly<Record<string, MacModel>> = Object.fromEntries(
  (
    [
      {
        ...sixPorts,
        id: 'Mac15,14',
        portLocations: studioAll,
        chip: 'Apple M3 Ultra',
        processorText: '32:24:8',
        defaultMemoryGib: 96,
        firstMacos: '15.3',
      },
      {
        ...fourPorts,
        id: 'Mac16,9',
        portLocations: studioBack,
        chip: 'Apple M4 Max',
        processorText: '14:10:4',
        defaultMemoryGib: 36,
        firstMacos: '15.3',
      },
      {
        ...mini,
        id: 'Mac16,11',
        chip: 'Apple M4 Pro',
        processorText: '12:8:4',
        defaultMemoryGib: 24,
        firstMacos: '15.1',
      },
      {
        ...mini,
        id: 'Mac16,10',
        chip: 'Apple M4',
        processorText: '10:4:6',
        defaultMemoryGib: 16,
        firstMacos: '15.1',
        thunderbolt: 4,
      },
      {
        ...sixPorts,
        id: 'Mac17,15',
        portLocations: studioAll,
        chip: 'Apple M5 Ultra',
        processorText: '36:12:24:0',
        defaultMemoryGib: 96,
      },
      {
        ...fourPorts,
        id: 'Mac17,14',
        portLocations: studioBack,
        chip: 'Apple M5 Max',
        processorText: '18:6:0:12',
        defaultMemoryGib: 36,
      },
      {
        ...sixPorts,
        id: 'Mac14,14',
        chip: 'Apple M2 Ultra',
        processorText: '24:16:8',
        defaultMemoryGib: 64,
        firstMacos: '13.4',
        thunderbolt: 4,
      },
      {
        ...fourPorts,
        id: 'Mac14,13',
        chip: 'Apple M2 Max',
        processorText: '12:8:4',
        defaultMemoryGib: 32,
        firstMacos: '13.4',
        thunderbolt: 4,
      },
      {
        ...mini,
        id: 'Mac17,16',
        chip: 'Apple M5 Pro',
        processorText: '15:5:0:10',
        defaultMemoryGib: 24,
        firstMacos: '27.0',
      },
      {
        ...mini,
        id: 'Mac18,5',
        chip: 'Apple M6',
        processorText: '10:4:6',
        defaultMemoryGib: 16,
        firstMacos: '27.0',
        thunderbolt: 4,
      },
      { ...m4MaxLaptop, id: 'Mac16,5' },
      { ...m4MaxLaptop, id: 'Mac16,6' },
      { ...m5MaxLaptop, id: 'Mac17,6' },
      { ...m5MaxLaptop, id: 'Mac17,7' },
    ] satisfies readonly MacModel[]
  ).map((model) => [model.id, model]),
);

/** The model of a node whose file does not say which Mac it is. */
export const defaultModelId = 'Mac15,14';

/** The model with this identifier; undefined when it cannot be simulated. */
export const macModelOf = (id: string): MacModel | undefined =>
  Object.hasOwn(macModels, id) ? macModels[id] : undefined;

/** The identifiers of all models that can be simulated, in a fixed order. */
export const modelIds: readonly string[] = Object.keys(macModels);
