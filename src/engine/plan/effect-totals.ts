import { compareText } from '../../model/lists.ts';
import type { Effect, EffectKind, Step } from '../../model/step.ts';
import type { EffectTotal } from './plan.ts';

/** In the order in which they disturb. */
const kinds = [
  'start',
  'network',
  'rdma-start',
  'interrupt',
  'reboot',
  'shutdown',
  'delete',
] as const satisfies readonly EffectKind[];

type Of<K extends EffectKind> = Extract<Effect, { kind: K }>;

const sortedOnce = <T extends string>(texts: readonly T[]): readonly T[] => [...new Set(texts)].toSorted(compareText);

const isOf =
  <K extends EffectKind>(kind: K) =>
  (effect: Effect): effect is Of<K> =>
    effect.kind === kind;

const placementsOf = (effect: Effect): readonly string[] => [
  ...('placement' in effect ? [effect.placement] : []),
  ...('others' in effect ? (effect.others ?? []) : []),
];

/** One line per kind of effect that any of the steps has; empty when nothing is disturbed. */
export function effectTotals(steps: readonly Step[]): readonly EffectTotal[] {
  return kinds.flatMap((kind): readonly EffectTotal[] => {
    const own = steps.filter(({ effect }) => effect.kind === kind);
    const effects = own.map(({ effect }) => effect);
    const seconds = effects.filter(isOf('interrupt')).map((one) => one.seconds);
    const bytes = effects.filter(isOf('delete')).reduce((sum, one) => sum + one.bytes, 0);
    return own.length === 0
      ? []
      : [
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
