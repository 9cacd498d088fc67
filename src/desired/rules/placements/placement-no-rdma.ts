import { macModel } from '../../../model/macs/mac-models.ts';
import { placementSubject } from '../../../model/subject.ts';
import { type Draft, draftNodesByName } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';

/** A placement over RDMA has no Mac that can never do it; a model of Mac that is not known is not judged. */
export function placementNoRdma(draft: Draft): readonly Finding[] {
  const byName = draftNodesByName(draft);
  return draftLayouts(draft.placements).flatMap(({ name, transport, nodes }) => {
    if (transport?.text !== 'rdma') return [];
    return nodes.flatMap((node) => {
      const declared = byName.get(node.text)?.model;
      const model = declared === undefined ? undefined : macModel(declared.text);
      if (declared === undefined || model === undefined || model.thunderbolt === 5) return [];
      const finding: Finding = {
        code: 'placement/no-rdma',
        pointer: node.pointer,
        at: 'value',
        detail: `${node.text} is a ${model.name} with Thunderbolt ${model.thunderbolt}.`,
        subject: placementSubject(name),
        others: [{ pointer: declared.pointer, at: 'value', detail: 'The model is declared here.' }],
      };
      return [finding];
    });
  });
}
