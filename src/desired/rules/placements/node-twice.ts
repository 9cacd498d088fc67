import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';

/** A node has one rank in a placement. */
export function nodeTwice(draft: Draft, place: PlaceText): readonly Finding[] {
  return draftLayouts(draft.placements).flatMap(({ name, nodes }) =>
    nodes.flatMap((node, index) => {
      const rank = nodes.findIndex((other) => other.text === node.text);
      const first = nodes[rank];
      if (first === undefined || rank === index) return [];
      const firstPlace = { pointer: first.pointer, at: 'value' } as const;
      const finding: Finding = {
        code: 'placement/node-twice',
        pointer: node.pointer,
        at: 'value',
        label: `rank ${rank} already, ${place(firstPlace)}`,
        detail: `${node.text} would be rank ${rank} and rank ${index} of ${name}.`,
        subject: placementSubject(name),
        others: [{ ...firstPlace, detail: 'The first time.' }],
      };
      return [finding];
    }),
  );
}
