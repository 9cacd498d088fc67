import type { Wiring } from '../../model/cables/wiring.ts';
import { createTurns } from '../turns.ts';
import type { Ground } from './ground.ts';
import { layNetwork, type NetworkNode, networkSettings } from './network-commands.ts';

/** The office network and the cables of a fleet. */
export interface NodeNetwork {
  /** Of a node, in the office network. */
  readonly addressOf: (node: string) => string;
  /** A Mac without current is silent, and the far ends of its cables see nobody. */
  readonly setPower: (node: string, isPowered: boolean) => Promise<void>;
  /** Makes cables, speeds and addresses be as the model has them; only what differs is touched. */
  readonly update: () => Promise<void>;
}

/**
 * Lays the network of a fleet: every node gets its interfaces for good, and what is plugged in decides which of their
 * outer ends meet. So a pulled cable takes the carrier away at both ends and nothing else, as on a Mac.
 */
export async function openNetwork(
  ground: Ground,
  names: readonly string[],
  wiringOf: (node: string) => Wiring,
): Promise<NodeNetwork> {
  const powered = new Set<string>();
  const known = new Map<string, string>();
  const turn = createTurns();
  const nodes = (): readonly NetworkNode[] =>
    names.map((name) => ({ name, wiring: wiringOf(name), isPowered: powered.has(name) }));
  const update = (): Promise<void> =>
    turn(async () => {
      const changed = networkSettings(nodes()).filter(({ about, value }) => known.get(about) !== value);
      if (changed.length === 0) return;
      await ground.run(changed.map(({ commands }) => commands).join('\n'));
      for (const { about, value } of changed) known.set(about, value);
    });
  await ground.run(layNetwork(nodes()));
  await update();
  return {
    addressOf: (node) => wiringOf(node).lan.address,
    setPower: async (node, isPowered) => {
      if (isPowered) powered.add(node);
      else powered.delete(node);
      await update();
    },
    update,
  };
}
