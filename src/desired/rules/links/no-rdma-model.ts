import { macModel } from '../../../model/macs/mac-models.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { type Draft, draftNodesByName } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** Reports that a linked Mac with Thunderbolt 4 can never have RDMA. Placements over RDMA refuse it themselves. */
export function noRdmaModel(draft: Draft): readonly Finding[] {
  const linked = new Set<string>(draft.links.flatMap((link) => link.ends.map((end) => end.node)));
  return [...draftNodesByName(draft)].flatMap(([name, node]) => {
    const model = node.model === undefined ? undefined : macModel(node.model.text);
    if (node.model === undefined || model === undefined || model.thunderbolt === 5 || !linked.has(name)) return [];
    const finding: Finding = {
      code: 'topology/no-rdma',
      pointer: node.model.pointer,
      at: 'value',
      detail: `A ${model.name} has Thunderbolt ${model.thunderbolt} and can never have RDMA. Its links carry TCP only.`,
      subject: nodeSubject(name),
    };
    return [finding];
  });
}
