/** Something that a node did and that cannot be seen from its answers alone. */
export type EffectAct =
  /** A command line that changes something, as it was answered. */
  | { readonly kind: 'write'; readonly tool: string; readonly args: readonly string[]; readonly exitCode: number }
  /** A request to launchd, as it was answered; stops of jobs are among them. */
  | { readonly kind: 'launchctl'; readonly args: readonly string[]; readonly exitCode: number }
  /** A signal to processes. */
  | { readonly kind: 'kill'; readonly signal: string; readonly targets: readonly string[] }
  /** Files of models were deleted. */
  | { readonly kind: 'delete'; readonly paths: readonly string[] }
  /** Somebody ordered the Mac to go down; an order to one that is going down already counts as well. */
  | { readonly kind: 'reboot' | 'power-off'; readonly by: 'shutdown' | 'hands' }
  | { readonly kind: 'boot' };

/** One such thing, with where and when. */
export type Effect = EffectAct & {
  readonly node: string;
  readonly atEpochMs: number;
  /** Number of the boot session of the node, from 0; of a boot the new one. */
  readonly boot: number;
};

/** The record of effects of a whole fleet, in the order in which they happened. */
export interface EffectLog {
  readonly add: (effect: Effect) => void;
  readonly all: () => readonly Effect[];
}

/** How many effects are kept; a rehearsal that goes on for days must not fill the memory. */
const maxEffects = 10_000;

/** Starts the record. */
export function createEffectLog(): EffectLog {
  const effects: Effect[] = [];
  return {
    add: (effect) => {
      effects.push(effect);
      if (effects.length > maxEffects) effects.shift();
    },
    all: () => [...effects],
  };
}
