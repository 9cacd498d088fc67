/** What is known about a model of Mac by its identifier. */
export interface MacModel {
  readonly name: string;
  /** Thunderbolt receptacles; macOS numbers them from 1. */
  readonly receptacles: number;
  /** RDMA over Thunderbolt needs 5 (Apple TN3205). */
  readonly thunderbolt: 4 | 5;
  /** Receptacles that are better left free. */
  readonly avoid: readonly number[];
}

/**
 * Models by `hw.model`. Counts of receptacles are Apple's technical specifications, seen as `Thunderbolt N` hardware
 * ports. On a Mac Studio receptacle 1 is the one next to Ethernet, which the README of exo says not to use for RDMA;
 * Apple says that all can, so it is a warning only.
 */
const modelsById: ReadonlyMap<string, MacModel> = new Map([
  ['Mac15,14', { name: 'Mac Studio (M3 Ultra)', receptacles: 6, thunderbolt: 5, avoid: [1] }],
  ['Mac16,9', { name: 'Mac Studio (M4 Max)', receptacles: 4, thunderbolt: 5, avoid: [1] }],
  ['Mac16,11', { name: 'Mac mini (M4 Pro)', receptacles: 3, thunderbolt: 5, avoid: [] }],
  ['Mac16,10', { name: 'Mac mini (M4)', receptacles: 3, thunderbolt: 4, avoid: [] }],
  ['Mac16,5', { name: 'MacBook Pro (M4 Max)', receptacles: 3, thunderbolt: 5, avoid: [] }],
  ['Mac16,6', { name: 'MacBook Pro (M4 Max)', receptacles: 3, thunderbolt: 5, avoid: [] }],
  ['Mac17,6', { name: 'MacBook Pro (M5 Max)', receptacles: 3, thunderbolt: 5, avoid: [] }],
  ['Mac17,7', { name: 'MacBook Pro (M5 Max)', receptacles: 3, thunderbolt: 5, avoid: [] }],
]);

/** The identifiers of every model that is known here. */
export const macModelIds: readonly string[] = [...modelsById.keys()];

/** What is known about a model, or undefined: an identifier that is not listed is unknown, never guessed. */
export const macModel = (id: string): MacModel | undefined => modelsById.get(id);

/** Why a receptacle of `avoid` is better left free, as a sentence. */
export const avoidReason = (name: string, receptacle: number): string =>
  `On a ${name} receptacle ${receptacle} is the one next to Ethernet; the README of exo says not to use it for RDMA.`;
