import type { NodeFit, RankNeed } from '../../model/fit/memory-fit.ts';

const needJson = ({ total, weights, cache, compute, promptCache, loading, process }: RankNeed): object => ({
  total: Math.round(total),
  weights: Math.round(weights),
  cache: Math.round(cache),
  compute: Math.round(compute),
  promptCache,
  loading,
  process: Math.round(process),
});

/** The memory of a node as documents have it; all sizes are bytes. */
export const nodeFitJson = ({ node, memoryBytes, budget, needBytes, verdict, shares, unknown }: NodeFit): object => ({
  node,
  memory: memoryBytes ?? null,
  budget: budget?.bytes ?? null,
  budgetKind: budget?.kind ?? null,
  need: Math.round(needBytes),
  verdict: verdict ?? null,
  placements: shares.map(({ placement, rank, need }) => ({ placement, rank, ...needJson(need) })),
  unknown,
});
