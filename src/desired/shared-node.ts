import type { DraftPlacement } from './draft/draft-placements.ts';

/** The first node that two placements have in common; undefined when there is none. */
export function sharedNode(a: DraftPlacement, b: DraftPlacement): string | undefined {
  const names = new Set(b.nodes.map(({ text }) => text));
  return a.nodes.find(({ text }) => names.has(text))?.text;
}

/** One text for two placements, whichever comes first: what is wrong between them is told once. */
export const pairKey = (a: Pick<DraftPlacement, 'name'>, b: Pick<DraftPlacement, 'name'>): string =>
  [a.name, b.name].toSorted().join(' ');
