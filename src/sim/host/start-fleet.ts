import type { Effect } from './effects.ts';
import type { ReceivedExec } from './exec-watch.ts';
import type { FaultAnswer, FleetModel, HandsAnswer } from './fleet-model.ts';
import type { StartFleetOptions } from './fleet-options.ts';
import { buildFleet, type FleetParts, stopFleet } from './fleet-parts.ts';
import type { KeyFile } from './host-keys.ts';
import type { Power } from './node-life.ts';
import type { ExecRecord, NodeCounts } from './records.ts';
import type { RunNode } from './run-file.ts';
import type { SimulatedNode } from './simulated-node.ts';

/** A running simulated fleet in this process. */
export interface Fleet {
  readonly runId: string;
  readonly userKey: KeyFile;
  /** Where the tools of all nodes reach the simulator. */
  readonly askSocket: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
  readonly counts: () => Readonly<Record<string, NodeCounts>>;
  /** Every kept command, by time. */
  readonly execs: () => readonly ExecRecord[];
  /** Every write, stop, deletion of model files and boot, in order. */
  readonly effects: () => readonly Effect[];
  /**
   * Calls the listener for every command once it was received to the end of its input (or has ended), and holds back
   * what the client hears of it until the listener is content. The returned function ends that.
   */
  readonly onExec: (listener: (exec: ReceivedExec) => void | Promise<void>) => () => void;
  /** Lines of `/.sim/unknown` by node: what a Mac would not have known. */
  readonly unknown: () => Promise<Readonly<Record<string, readonly string[]>>>;
  /** How many process groups of node commands live. */
  readonly groupCount: () => number;
  /** Every process that a launchd of the fleet has started and that has not ended. */
  readonly processes: () => readonly { readonly node: string; readonly label: string; readonly pid: number }[];
  readonly power: () => Readonly<Record<string, Power>>;
  /** Both re-render every node before they answer. */
  readonly setFault: (words: readonly string[]) => Promise<FaultAnswer>;
  readonly clearFault: (words: readonly string[]) => Promise<FaultAnswer>;
  /** The hands at the rack do what they can; resolves when every Mac that they restarted is up again. */
  readonly hands: () => Promise<HandsAnswer>;
  /** Presses the button of a Mac that is off; false when there is no such node. Resolves when it can be reached. */
  readonly powerOn: (node: string) => Promise<boolean>;
  /** Cuts every connection and ends every process; may be called twice. */
  readonly stop: () => Promise<void>;
}

/**
 * Brings up every node of a model behind real SSH on the loopback interface. Host keys and the client's key in the
 * folder are kept. So are the disks of nodes that the model knows from an earlier run: for those Macs it is a start
 * like any other. All others begin with an empty disk.
 *
 * @throws FleetError `sim/run-folder`
 */
export async function startFleet(options: StartFleetOptions): Promise<Fleet> {
  return fleetOf(await buildFleet(options), options.model);
}

function fleetOf(parts: FleetParts, model: FleetModel): Fleet {
  const { nodes, asked } = parts;
  const byName = <T>(value: (node: SimulatedNode) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(nodes.map((node) => [node.name, value(node)]));
  const change = (act: () => FaultAnswer): Promise<FaultAnswer> =>
    asked.takeTurn(async () => {
      const answer = act();
      if (answer.kind === 'done') await asked.settle();
      return answer;
    });
  let stopped: Promise<void> | undefined;
  return {
    runId: parts.runId,
    userKey: parts.userKey,
    askSocket: parts.askPath,
    nodes: byName((node) => node.run),
    counts: () => byName((node) => node.counts()),
    execs: () => nodes.flatMap((node) => node.execs()).sort((a, b) => a.atEpochMs - b.atEpochMs),
    effects: parts.effects.all,
    onExec: parts.watch.add,
    unknown: async () =>
      Object.fromEntries(await Promise.all(nodes.map(async (node) => [node.name, await node.unknown()] as const))),
    groupCount: () => parts.groups.count(),
    processes: () => nodes.flatMap((node) => node.launchd.processes().map((one) => ({ node: node.name, ...one }))),
    power: () => byName((node) => node.life.power()),
    setFault: (words) => change(() => model.setFault(words)),
    clearFault: (words) => change(() => model.clearFault(words)),
    hands: async () => {
      const answer = await asked.takeTurn(async () => {
        const work = model.hands();
        await asked.settle();
        return work;
      });
      const visited = nodes.filter((node) => answer.restarts.includes(node.name));
      await Promise.all(visited.map((node) => node.life.restart('up', 'hands').then(() => node.life.powerOn())));
      return answer;
    },
    powerOn: async (name) => {
      const node = nodes.find((one) => one.name === name);
      await node?.life.powerOn();
      return node !== undefined;
    },
    stop: () => {
      stopped ??= stopFleet(parts);
      return stopped;
    },
  };
}
