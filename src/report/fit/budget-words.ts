import type { MemoryBudget } from '../../model/fit/memory-fit.ts';

/** How it is known what the GPU of a node may use, in a few words. */
export const budgetWords: Readonly<Record<MemoryBudget['kind'], string>> = {
  desired: 'set by the file',
  seen: 'set on the node',
  reported: 'reported by a rank',
  assumed: 'assumed',
};
