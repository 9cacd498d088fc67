import type { FleetModel } from './fleet-model.ts';

/** What a simulated fleet is started with. */
export interface StartFleetOptions {
  /** Private to the run: keys, roots, pipes, the state. Keys in it are used again. */
  readonly folder: string;
  readonly model: FleetModel;
  /** Ports of an earlier run by node, tried first. */
  readonly ports?: Readonly<Record<string, number>>;
  /** How long a second of a Mac takes here, in seconds: reboots and grace times. 1/20 when absent. */
  readonly clockFactor?: number;
  /**
   * The same for what launchd starts again and again (`StartInterval`). 1 when absent: as often as on a real Mac, since
   * a rack whose minutes are short would do little else.
   */
  readonly intervalFactor?: number;
}
