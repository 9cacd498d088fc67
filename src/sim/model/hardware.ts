/** A network port that is not a Thunderbolt receptacle. */
interface NetworkPort {
  /** Its name in `networksetup -listallhardwareports`. */
  readonly port: string;
  readonly device: string;
  /** An adapter is a port that macOS shows for docks, phones and front sockets. */
  readonly kind: 'ethernet' | 'wifi' | 'adapter';
}

/** Properties that all Macs of one model share. */
export interface SimulatedModel {
  /** `hw.model`. */
  readonly id: string;
  /** Its name for Thunderbolt peers and system_profiler, such as `Mac Studio`. */
  readonly family: string;
  readonly chip: string;
  /** Core counts as in `number_processors` after `proc `: the total, then each kind. An M5 has four numbers. */
  readonly processorText: string;
  /** Memory of the cheapest configuration, in GiB. */
  readonly defaultMemoryGib: number;
  /** The macOS version of this model's first Macs, which cannot run older versions. */
  readonly firstMacos: string;
  readonly diskTotalKib: number;
  /** Each receptacle's network interface; the first is receptacle 1. */
  readonly receptacleDevices: readonly string[];
  readonly thunderbolt: 4 | 5;
  /** `port-location` of each receptacle in the device tree, from receptacle 1 on; absent if the Mac has none. */
  readonly portLocations?: readonly string[];
  readonly ports: readonly NetworkPort[];
  /** Laptops have a battery section in pmset and cannot restart by themselves. */
  readonly isLaptop: boolean;
}

const ethernet: NetworkPort = { port: 'Ethernet', device: 'en0', kind: 'ethernet' };
const wifi = (device: string): NetworkPort => ({ port: 'Wi-Fi', device, kind: 'wifi' });
const adapter = (device: string): NetworkPort => ({ port: `Ethernet Adapter (${device})`, device, kind: 'adapter' });

/** Disk sizes from `df -k` on an 8 TB Mac Studio and a 1 TB Mac. */
const eightTerabytesKib = 7_811_085_600;
const oneTerabyteKib = 971_350_180;

/**
 * @see dev7a/rdmalink InventoryPortTests.swift: a Mac15,14, read 2026-09-19. Nothing is published about other models.
 */
const studioBack = ['back-right', 'back-right-middle', 'back-left-middle', 'back-left'] as const;
const studioAll = [...studioBack, 'front-right', 'front-left'] as const;

const sixPorts = {
  family: 'Mac Studio',
  thunderbolt: 5,
  diskTotalKib: eightTerabytesKib,
  receptacleDevices: ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'],
  ports: [ethernet, adapter('en8'), wifi('en1')],
  isLaptop: false,
} as const;

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

const laptop = { ...fourPorts, family: 'MacBook Pro', isLaptop: true } as const;

/** The MacBook Pros with M5 Max: Thunderbolt 1, 2, 3 are en1, en6, en2 in two published captures. */
const m5MaxLaptop = {
  ...laptop,
  receptacleDevices: ['en1', 'en6', 'en2'],
  ports: [adapter('en3'), adapter('en4'), adapter('en5'), wifi('en0')],
  // The three values are from a Mac17,7; the assignment to receptacles is a guess.
  portLocations: ['left-back', 'left-front', 'right'],
} as const;

const m4MaxLaptop = {
  ...laptop,
  receptacleDevices: ['en1', 'en2', 'en3'],
  ports: [adapter('en4'), adapter('en5'), adapter('en6'), wifi('en0')],
} as const;

const isThunderbolt4 = { thunderbolt: 4 } as const;

const model = (
  id: string,
  chip: string,
  processorText: string,
  defaultMemoryGib: number,
  firstMacos: string,
  body: Omit<SimulatedModel, 'id' | 'chip' | 'processorText' | 'defaultMemoryGib' | 'firstMacos'>,
): SimulatedModel => ({ id, chip: `Apple ${chip}`, processorText, defaultMemoryGib, firstMacos, ...body });

/**
 * All simulated models by `hw.model`. Receptacles, chips and Thunderbolt generations are from Apple's technical
 * specifications and TN3205; the interfaces of Mac15,14 and Mac17,7 from published captures of `networksetup
 * -listallhardwareports`; those of Mac16,11 from TN3205. `number_processors` of the M5 Max and the M5 Ultra is from
 * published outputs of `system_profiler`. The other values are derived from these and are unconfirmed.
 */
const macModels: ReadonlyMap<string, SimulatedModel> = new Map(
  [
    model('Mac15,14', 'M3 Ultra', '32:24:8', 96, '15.3', { ...sixPorts, portLocations: studioAll }),
    model('Mac16,9', 'M4 Max', '14:10:4', 36, '15.3', { ...fourPorts, portLocations: studioBack }),
    model('Mac16,11', 'M4 Pro', '12:8:4', 24, '15.1', mini),
    model('Mac16,10', 'M4', '10:4:6', 16, '15.1', { ...mini, ...isThunderbolt4 }),
    model('Mac17,15', 'M5 Ultra', '36:12:24:0', 96, '27.0', { ...sixPorts, portLocations: studioAll }),
    model('Mac17,14', 'M5 Max', '18:6:0:12', 36, '27.0', { ...fourPorts, portLocations: studioBack }),
    model('Mac14,14', 'M2 Ultra', '24:16:8', 64, '13.4', { ...sixPorts, ...isThunderbolt4 }),
    model('Mac14,13', 'M2 Max', '12:8:4', 32, '13.4', { ...fourPorts, ...isThunderbolt4 }),
    model('Mac17,16', 'M5 Pro', '15:5:0:10', 24, '27.0', mini),
    model('Mac18,5', 'M6', '10:4:6', 16, '27.0', { ...mini, ...isThunderbolt4 }),
    model('Mac16,5', 'M4 Max', '14:10:4', 36, '15.1', m4MaxLaptop),
    model('Mac16,6', 'M4 Max', '14:10:4', 36, '15.1', m4MaxLaptop),
    model('Mac17,6', 'M5 Max', '18:6:0:12', 36, '26.3', m5MaxLaptop),
    model('Mac17,7', 'M5 Max', '18:6:0:12', 36, '26.3', m5MaxLaptop),
  ].map((one) => [one.id, one]),
);

/** The model with this identifier; undefined if it cannot be simulated. */
export const macModelOf = (id: string): SimulatedModel | undefined => macModels.get(id);

export const modelIds: readonly string[] = [...macModels.keys()];
