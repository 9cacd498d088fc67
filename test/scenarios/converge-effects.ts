import type { Step } from '../../src/model/step.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import type { RecordedEffect } from '../../src/sim/hosts/records.ts';

/** The effect of a command on a node, in the terms of a plan. */
interface Disturbance {
  readonly node: string;
  readonly kind: 'stop' | 'start' | 'network' | 'reboot' | 'shutdown' | 'delete' | 'kill';
  readonly placement?: string;
}

const networkTools: readonly string[] = ['/usr/sbin/networksetup', '/sbin/ifconfig', '/usr/libexec/PlistBuddy'];
const rank = /^(?:system\/|\/Library\/LaunchDaemons\/)?dev\.meshwright\.rank\.(?<placement>.+?)(?:\.plist)?$/;

export function disturbanceOf(effect: RecordedEffect): Disturbance | undefined {
  const { node } = effect;
  switch (effect.kind) {
    case 'write':
      return networkTools.includes(effect.tool) && effect.exitCode === 0 ? { node, kind: 'network' } : undefined;
    case 'launchctl': {
      const [verb = '', ...words] = effect.args;
      const placement = words.map((word) => rank.exec(word)?.groups?.['placement']).find((name) => name !== undefined);
      if (effect.exitCode !== 0 || placement === undefined) return undefined;
      if (verb === 'kickstart') return { node, kind: words.includes('-k') ? 'stop' : 'start', placement };
      return verb === 'bootout' || verb === 'kill' ? { node, kind: 'stop', placement } : undefined;
    }
    case 'reboot':
      return { node, kind: 'reboot' };
    case 'power-off':
      return { node, kind: 'shutdown' };
    case 'delete':
    case 'kill':
      return { node, kind: effect.kind };
    case 'boot':
      return undefined;
  }
}

/** Placements that answered before the plan: a stop of one of them is always an interruption. */
const answering = ({ nodes }: FleetObservation): ReadonlySet<string> =>
  new Set(
    Object.values(nodes).flatMap(({ facts }) => {
      const placements = read(facts, placementsFact);
      return placements.kind === 'known'
        ? placements.value.filter(({ token }) => token.kind === 'answered').map(({ placement }) => placement)
        : [];
    }),
  );

/** True if a step lists this effect. */
function names({ node, effect }: Step, disturbance: Disturbance, answered: ReadonlySet<string>): boolean {
  if (node !== disturbance.node) return false;
  const { kind, placement = '' } = disturbance;
  const isOfPlacement = 'placement' in effect && effect.placement === placement;
  switch (kind) {
    case 'stop':
      return isOfPlacement && (effect.kind === 'interrupt' || !answered.has(placement));
    case 'start':
      return isOfPlacement;
    case 'kill':
      return false;
    default:
      return effect.kind === kind;
  }
}

/** Effects on the nodes that none of these steps lists. */
export function unnamedEffects(
  effects: readonly RecordedEffect[],
  steps: readonly Step[],
  seen: FleetObservation,
): readonly string[] {
  const answered = answering(seen);
  return effects.flatMap((effect) => {
    const disturbance = disturbanceOf(effect);
    const isNamed = disturbance === undefined || steps.some((step) => names(step, disturbance, answered));
    return isNamed ? [] : [JSON.stringify(effect)];
  });
}
