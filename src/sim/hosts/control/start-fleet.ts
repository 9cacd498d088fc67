import type { FleetHost } from '../fleet-host.ts';
import type { ActsAnswer, FaultAnswer, FleetModel } from '../fleet-model.ts';
import type { StartFleetOptions } from '../fleet-options.ts';
import { buildFleet, type FleetParts, stopFleet } from '../fleet-parts.ts';
import { portableHost } from '../portable/portable-host.ts';
import type { RunningFleet } from '../running-fleet.ts';
import type { SimulatedNode } from '../simulated-node.ts';
import type { ReceivedExec } from '../ssh/exec-watch.ts';

/** A running simulated fleet of the portable host, which sees every command as it arrives. */
export interface Fleet extends RunningFleet {
  /**
   * Calls the listener for every command once it was received to the end of its input (or has ended), and holds back
   * what the client hears of it until the listener is content. The returned function ends that.
   */
  readonly onExec: (listener: (exec: ReceivedExec) => void | Promise<void>) => () => void;
  /** How many process groups of node commands live. */
  readonly groupCount: () => number;
}

/**
 * Brings up every node of a model behind real SSH on the loopback interface. Host keys and the client's key in the
 * folder are kept. So are the disks of nodes that the model knows from an earlier run: for those Macs it is a start
 * like any other. All others begin with an empty disk.
 *
 * @throws FleetError `sim/run-folder`
 */
export async function startFleet(options: StartFleetOptions): Promise<Fleet> {
  const parts = await buildFleet(options, portableHost);
  return { ...fleetOf(parts, options.model), onExec: parts.watch.add, groupCount: parts.host.groupCount };
}

/** The same on this host. @throws FleetError `sim/run-folder`, and what the host throws */
export async function startFleetOn(host: FleetHost, options: StartFleetOptions): Promise<RunningFleet> {
  return fleetOf(await buildFleet(options, host), options.model);
}

function fleetOf(parts: FleetParts, model: FleetModel): RunningFleet {
  const { nodes, asked } = parts;
  const named = (name: string): SimulatedNode | undefined => nodes.find((one) => one.name === name);
  const byName = <T>(value: (node: SimulatedNode) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(nodes.map((node) => [node.name, value(node)]));
  const change = async <T extends FaultAnswer | ActsAnswer>(act: () => T): Promise<T> => {
    const answer = await asked.takeTurn(async () => {
      const done = act();
      if (done.kind === 'done') await asked.settle();
      return done;
    });
    await asked.follow();
    return answer;
  };
  let stopped: Promise<void> | undefined;
  return {
    runId: parts.runId,
    userKey: parts.userKey,
    askSocket: parts.askPath,
    nodes: byName((node) => node.run),
    disk: (name) => named(name)?.disk,
    counts: () => byName((node) => node.counts()),
    execs: () => nodes.flatMap((node) => node.execs()).sort((a, b) => a.atEpochMs - b.atEpochMs),
    effects: parts.effects.all,
    unknown: async () =>
      Object.fromEntries(await Promise.all(nodes.map(async (node) => [node.name, await node.unknown()] as const))),
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
    act: (words) => change(() => model.act(words)),
    powerOn: async (name) => {
      const node = named(name);
      if (node?.view().ailments.lacksCurrent !== true) await node?.life.powerOn();
      return node !== undefined;
    },
    cutPower: async (name) => {
      const node = named(name);
      await node?.life.cutPower();
      return node !== undefined;
    },
    stop: () => {
      stopped ??= stopFleet(parts);
      return stopped;
    },
  };
}
