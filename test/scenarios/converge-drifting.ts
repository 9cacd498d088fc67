import { handOn } from './converge-drifts.ts';
import { pairFile, withEverySetting } from './converge-file.ts';
import type { Drift, Hand } from './converge-hand.ts';
import { type ConvergeRack, startConvergeRack } from './converge-rack.ts';

/** A converged rack that a test changes by hand. After a change that was not repaired, it is started from scratch. */
export interface DriftingRack {
  readonly rack: () => ConvergeRack;
  /** Runs before every change, so that each change is observed separately. */
  readonly ready: () => Promise<void>;
  readonly drift: (node: string, made: readonly Drift[]) => Promise<void>;
  /** Runs after an observation has shown that everything is repaired. */
  readonly healed: () => void;
  readonly stop: () => Promise<void>;
}

async function converged(seed: string): Promise<ConvergeRack> {
  const rack = await startConvergeRack(seed, pairFile(withEverySetting));
  await rack.converge();
  return rack;
}

/** Starts a rack and makes it match its file. */
export async function startDriftingRack(seed: string): Promise<DriftingRack> {
  let rack = await converged(seed);
  let isHealed = true;
  // The paths and devices of a node do not change as long as the rack exists.
  const hands = new Map<string, Hand>();
  return {
    rack: () => rack,
    ready: async () => {
      if (!isHealed) {
        await rack.stop().catch(() => undefined);
        hands.clear();
        rack = await converged(seed);
      }
      isHealed = false;
    },
    drift: (node, made) =>
      rack.behindOurBack(async (fleet) => {
        const hand = hands.get(node) ?? (await handOn(rack, fleet, node));
        hands.set(node, hand);
        for (const one of made) await one.make(hand);
      }),
    healed: () => {
      isHealed = true;
    },
    stop: () => rack.stop(),
  };
}

/** An address with `*` for numbers of receptacles and names of the file. */
export const patternOf = (address: string): string =>
  address.replaceAll(/\/(?:\d+|reference|tiny|chat|talk|other|io\.[a-z.]+|_mesh[a-z]+)(?=\/|$)/g, '/*');
