import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { NodeUnlock } from './access/unlock-node.ts';
import type { Journal } from './journal/journal.ts';
import type { Controller } from './lease/controller.ts';
import type { NodeWay, UseLimits } from './reach/with-remote.ts';
import type { RunListener } from './run-events.ts';
import type { RunTiming } from './run-timing.ts';

/** What a run needs besides its plan. Times and ids are arguments: the caller reads clocks and makes tokens. */
export interface RunOptions extends UseLimits {
  /** The ways to all nodes of the plan, and to those that its gates look at. */
  readonly ways: readonly NodeWay[];
  /** The settled file that the plan was made from: gates read the same properties. */
  readonly desired: DesiredFleet;
  /** As it was typed: `apply`; shown to whoever meets the lease. */
  readonly verb: string;
  readonly controller: Controller;
  /** Opened for this run; the caller closes it. Its run id names the run. */
  readonly journal: Journal;
  /** On how many nodes steps run at once. */
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every observation. */
  readonly newToken: () => string;
  readonly timing: RunTiming;
  /** How long somebody else's living lease is waited for, after which the run is refused; 0 unless `--lease-wait`. */
  readonly leaseWaitMs: number;
  readonly onEvent: RunListener;
  /**
   * Told when the leases of a plan are held and before its first step, which waits for it. What it throws ends the run.
   */
  readonly onLeased?: () => Promise<void>;
  /** Told before the script that takes the way into a node away, which is not sent until this is done. */
  readonly onWithdraw?: (node: NodeName) => Promise<void>;
  /** Unlocks a Mac that came back locked at FileVault, where that needs no person; absent when none can be. */
  readonly unlock?: NodeUnlock;
}
