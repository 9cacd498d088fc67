import { tensorProblems } from '../../desired/fit/tensor-limits.ts';
import type { DesiredModel, ExoRuntime } from '../../model/desired.ts';
import type { ModelShape } from '../../model/fit/model-shape.ts';
import { needsNoKvHeads } from './cards.ts';

/** The shape by which exo divides a model: one that needs no heads of keys and values of its own has enough of them. */
export function exoShape({ dialect }: ExoRuntime, { repository = '', shape }: DesiredModel): ModelShape | undefined {
  return shape !== undefined && needsNoKvHeads(repository, dialect) ? { ...shape, kvHeads: shape.heads } : shape;
}

/**
 * What exo divides by besides: the width, and the heads of keys and values even where attention is latent. Each as the
 * end of "exo does not split it: "; empty where no runtime can split the model, which is told already.
 *
 * @see exo: placement_utils.py
 */
export function undividedByExo(shape: ModelShape, ranks: number): readonly string[] {
  if (tensorProblems(shape, ranks).length > 0) return [];
  const widths = [
    ['width', shape.hidden],
    ['heads of keys and values', shape.kvHeads],
  ] as const;
  return widths.filter(([, count]) => count % ranks !== 0).map(([what, count]) => `its ${what} (${count}) by ${ranks}`);
}
