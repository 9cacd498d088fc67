import type { Fleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { ConvergeRack } from './converge-rack.ts';

/** What somebody does to a node, by hand. */
export interface Hand {
  readonly rack: ConvergeRack;
  readonly fleet: Fleet;
  readonly node: string;
  /** The receptacle of the node that a link is declared at, and one without. */
  readonly linked: number;
  readonly free: number;
  /** Runs a script as root; it must succeed. */
  readonly asRoot: (script: string) => Promise<void>;
  /** Where a path of the node lies here. */
  readonly at: (path: string) => string;
  /** The network interface of a receptacle, such as `en5`. */
  readonly device: (receptacle: number) => string;
  /** The address that it had before anything was done. */
  readonly address: (receptacle: number) => string;
}

/** One change of one property that nobody declared. */
export interface Drift {
  /** The address of the property, with `*` for numbers of receptacles and names of the file. */
  readonly of: string;
  readonly what: string;
  /** Those of one batch can be made together, in their order, and none hides another. */
  readonly batch?: 'settings' | 'files' | 'ranks';
  readonly make: (hand: Hand) => Promise<void>;
  /** What depends on it and changes with it, by address pattern; of the placement on its leader. */
  readonly with?: readonly string[];
}
