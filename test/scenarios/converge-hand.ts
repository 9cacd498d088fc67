import type { Fleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { ConvergeRack } from './converge-rack.ts';

/** The access of a person who changes a node by hand. */
export interface Hand {
  readonly rack: ConvergeRack;
  readonly fleet: Fleet;
  readonly node: string;
  /** A receptacle of the node with a declared link, and one without. */
  readonly linked: number;
  readonly free: number;
  /** Runs a script as root; it must succeed. */
  readonly asRoot: (script: string) => Promise<void>;
  /** The path on this computer of a path on the node. */
  readonly at: (path: string) => string;
  /** The network interface of a receptacle, such as `en5`. */
  readonly device: (receptacle: number) => string;
  /** The address of a receptacle before any change. */
  readonly address: (receptacle: number) => string;
}

/** One undeclared change of one property. */
export interface Drift {
  /** The address of the property, with `*` for numbers of receptacles and names of the file. */
  readonly of: string;
  readonly what: string;
  /** Drifts of one batch can be made together, in their order; none hides a different one. */
  readonly batch?: 'settings' | 'files' | 'ranks';
  readonly make: (hand: Hand) => Promise<void>;
  /** Address patterns of dependent properties that change too; for the placement, on its leader. */
  readonly with?: readonly string[];
}
