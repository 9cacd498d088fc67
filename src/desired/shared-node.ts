import type { DraftPlacement } from './draft-placements.ts';

/** The first node that two placements have in common; undefined when there is none. */
export function sharedNode(a: DraftPlacement, b: DraftPlacement): string | undefined {
  const names = new Set(b.nodes.map(({ text }) => text));
  return a.nodes.find(({ text }) => names.has(text))?.text;
}
