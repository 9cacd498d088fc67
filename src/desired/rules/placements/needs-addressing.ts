import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';

/** Ranks on two or more nodes meet at addresses of their links, so there must be a pool for those. */
export function needsAddressing(draft: Draft): readonly Finding[] {
  if (draft.hasPool) return [];
  return draftLayouts(draft.placements).flatMap(({ name, pointer, nodes }) => {
    if (new Set(nodes.map(({ text }) => text)).size < 2) return [];
    const finding: Finding = {
      code: 'placement/needs-addressing',
      pointer: `${pointer}/nodes`,
      at: 'key',
      detail: `${name} has ${nodes.length} ranks, and the file has no \`thunderbolt.addressing.pool\`.`,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
