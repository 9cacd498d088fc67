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
  /** Performance and efficiency cores. */
  readonly cores: { readonly performance: number; readonly efficiency: number };
  /** In order: total and the kinds, as `number_processors` prints them after `proc `. */
  readonly processorText: string;
  /** What the cheapest one has, in GiB. */
  readonly defaultMemoryGib: number;
  readonly diskTotalKib: number;
  /** The network interface of each receptacle; the first is receptacle 1. */
  readonly receptacleDevices: readonly string[];
  readonly thunderbolt: 4 | 5;
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

const desktop = { isLaptop: false, thunderbolt: 5 } as const;

/** The MacBook Pros with M5 Max: Thunderbolt 1, 2, 3 are en1, en6, en2 in two published captures. */
const m5MaxLaptop = {
  family: 'MacBook Pro',
  chip: 'Apple M5 Max',
  cores: { performance: 18, efficiency: 0 },
  processorText: '18:6:0:12',
  defaultMemoryGib: 36,
  diskTotalKib: oneTerabyteKib,
  receptacleDevices: ['en1', 'en6', 'en2'],
  thunderbolt: 5,
  ports: [adapter('en3'), adapter('en4'), adapter('en5'), wifi('en0')],
  isLaptop: true,
} as const;

const m4MaxLaptop = {
  family: 'MacBook Pro',
  chip: 'Apple M4 Max',
  cores: { performance: 10, efficiency: 4 },
  processorText: '14:10:4',
  defaultMemoryGib: 36,
  diskTotalKib: oneTerabyteKib,
  receptacleDevices: ['en1', 'en2', 'en3'],
  thunderbolt: 5,
  ports: [adapter('en4'), adapter('en5'), adapter('en6'), wifi('en0')],
  isLaptop: true,
} as const;

/**
 * Every model that can be simulated, by `hw.model`. Receptacles, chips and Thunderbolt generations: Apple's
 * technical specifications and TN3205; the interfaces of Mac15,14 and Mac17,7: published captures of
 * `networksetup -listallhardwareports`; those of Mac16,11: TN3205. Others follow them and are unconfirmed.
 */
const macModels: Readonly<Record<string, MacModel>> = Object.fromEntries(
  (
    [
      {
        ...desktop,
        id: 'Mac15,14',
        family: 'Mac Studio',
        chip: 'Apple M3 Ultra',
        cores: { performance: 24, efficiency: 8 },
        processorText: '32:24:8',
        defaultMemoryGib: 96,
        diskTotalKib: eightTerabytesKib,
        receptacleDevices: ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'],
        ports: [ethernet, adapter('en8'), wifi('en1')],
      },
      {
        ...desktop,
        id: 'Mac16,9',
        family: 'Mac Studio',
        chip: 'Apple M4 Max',
        cores: { performance: 10, efficiency: 4 },
        processorText: '14:10:4',
        defaultMemoryGib: 36,
        diskTotalKib: oneTerabyteKib,
        receptacleDevices: ['en2', 'en3', 'en4', 'en5'],
        ports: [ethernet, adapter('en6'), adapter('en7'), wifi('en1')],
      },
      {
        ...desktop,
        id: 'Mac16,11',
        family: 'Mac mini',
        chip: 'Apple M4 Pro',
        cores: { performance: 8, efficiency: 4 },
        processorText: '12:8:4',
        defaultMemoryGib: 24,
        diskTotalKib: oneTerabyteKib,
        receptacleDevices: ['en2', 'en3', 'en4'],
        ports: [ethernet, adapter('en5'), adapter('en6'), wifi('en1')],
      },
      {
        ...desktop,
        id: 'Mac16,10',
        family: 'Mac mini',
        chip: 'Apple M4',
        cores: { performance: 4, efficiency: 6 },
        processorText: '10:4:6',
        defaultMemoryGib: 16,
        diskTotalKib: oneTerabyteKib,
        receptacleDevices: ['en2', 'en3', 'en4'],
        thunderbolt: 4,
        ports: [ethernet, adapter('en5'), adapter('en6'), wifi('en1')],
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
