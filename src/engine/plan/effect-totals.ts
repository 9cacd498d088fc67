import { compareText } from '../../model/lists.ts';
import type { Effect, Step } from '../../model/step.ts';
import type { EffectTotal } from './plan.ts';

/** In order of severity. */
const kinds = ['start', 'network', 'rdma-start', 'interrupt', 'reboot', 'locked-reboot', 'shutdown', 'delete'] as const;

const sortedOnce = <T extends string>(texts: readonly T[]): readonly T[] => [...new Set(texts)].toSorted(compareText);

const placementsOf = (effect: Effect): readonly string[] => [
  ...('placement' in effect ? [effect.placement] : []),
  ...('others' in effect ? (effect.others ?? []) : []),
];

/** The total for each kind of effect; empty if the steps have no effects. */
export function effectTotals(steps: readonly Step[]): readonly EffectTotal[] {
  return kinds.flatMap((kind): readonly EffectTotal[] => {
    const own = steps.filter(({ effect }) => effect.kind === kind);
    if (own.length === 0) return [];
    const effects = own.map(({ effect }) => effect);
    const seconds = effects.flatMap((one) => (one.kind === 'interrupt' ? [one.seconds] : []));
    const bytes = effects.reduce((sum, one) => sum + (one.kind === 'delete' ? one.bytes : 0), 0);
    return [
      {
        kind,
        nodes: sortedOnce(own.flatMap(({ node, peers }) => (kind === 'interrupt' ? [node, ...peers] : [node]))),
        placements: sortedOnce(effects.flatMap(placementsOf)),
        ...(seconds.length === 0 ? {} : { seconds: Math.max(...seconds) }),
        ...(kind === 'delete' ? { bytes } : {}),
      },
    ];
  });
}

/** One total for each kind of effect, with the nodes and placements of all. */
export const joinEffects = (totals: readonly EffectTotal[]): readonly EffectTotal[] =>
  kinds.flatMap((kind): readonly EffectTotal[] => {
    const own = totals.filter((one) => one.kind === kind);
    const seconds = own.flatMap((one) => one.seconds ?? []);
    const bytes = own.flatMap((one) => one.bytes ?? []);
    if (own.length === 0) return [];
    return [
      {
        kind,
        nodes: sortedOnce(own.flatMap(({ nodes }) => nodes)),
        placements: sortedOnce(own.flatMap(({ placements }) => placements)),
        ...(seconds.length === 0 ? {} : { seconds: Math.max(...seconds) }),
        ...(bytes.length === 0 ? {} : { bytes: bytes.reduce((sum, one) => sum + one, 0) }),
      },
    ];
  });
