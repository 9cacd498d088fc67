import type { RunNode } from './control/run-file.ts';
import type { Effect } from './effects.ts';
import type { ActsAnswer, FaultAnswer, HandsAnswer } from './fleet-model.ts';
import type { Power } from './node-life.ts';
import type { ExecRecord, NodeCounts } from './records.ts';
import type { KeyFile } from './ssh/host-keys.ts';

/** A simulated fleet that runs in this process, on whichever host. */
export interface RunningFleet {
  readonly runId: string;
  readonly userKey: KeyFile;
  /** Where the tools of all nodes reach the simulator. */
  readonly askSocket: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
  /** Where this process finds `/` of a node; undefined when there is no such node. */
  readonly disk: (node: string) => string | undefined;
  readonly counts: () => Readonly<Record<string, NodeCounts>>;
  /** Every kept command, by time. */
  readonly execs: () => readonly ExecRecord[];
  /** Every write, stop, deletion of model files and boot, in order. */
  readonly effects: () => readonly Effect[];
  /** Lines of `/.sim/unknown` by node: what a Mac would not have known. */
  readonly unknown: () => Promise<Readonly<Record<string, readonly string[]>>>;
  /** Every process that a launchd of the fleet has started and that has not ended. */
  readonly processes: () => readonly { readonly node: string; readonly label: string; readonly pid: number }[];
  readonly power: () => Readonly<Record<string, Power>>;
  /** Both re-render every node before they answer. */
  readonly setFault: (words: readonly string[]) => Promise<FaultAnswer>;
  readonly clearFault: (words: readonly string[]) => Promise<FaultAnswer>;
  /** The hands at the rack do what they can; resolves when every Mac that they restarted is up again. */
  readonly hands: () => Promise<HandsAnswer>;
  /** The hands move plugs as these words say, such as `unplug studio-1:2`. */
  readonly act: (words: readonly string[]) => Promise<ActsAnswer>;
  /** Presses the button of a Mac that is off; false when there is no such node. Resolves when it can be reached. */
  readonly powerOn: (node: string) => Promise<boolean>;
  /** Takes the power away from a Mac, in the middle of whatever it does; false when there is no such node. */
  readonly cutPower: (node: string) => Promise<boolean>;
  /** Cuts every connection and ends every process; may be called twice. */
  readonly stop: () => Promise<void>;
}
