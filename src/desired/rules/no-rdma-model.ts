import { type Draft, draftNodesByName } from '../draft.ts';
import type { Finding } from '../finding.ts';
import { macModel } from '../mac-models.ts';

/** A linked Mac with Thunderbolt 4 can do no RDMA: wrong where the file requires it, else worth a warning. */
export function noRdmaModel(draft: Draft): readonly Finding[] {
  const linked = new Set<string>(draft.links.flatMap((link) => link.ends.map((end) => end.node)));
  return [...draftNodesByName(draft)].flatMap(([name, node]) => {
    const model = node.model === undefined ? undefined : macModel(node.model.text);
    if (node.model === undefined || model === undefined || model.thunderbolt === 5 || !linked.has(name)) return [];
    const finding: Finding = {
      code: 'topology/no-rdma',
      severity: draft.isRdmaRequired ? 'error' : 'warning',
      pointer: node.model.pointer,
      at: 'value',
      detail: `A ${model.name} has Thunderbolt ${model.thunderbolt}; its links can carry TCP only.`,
      subject: `node ${name}`,
    };
    return [finding];
  });
}
