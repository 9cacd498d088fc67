import { type Draft, type DraftEnd, draftNodesByName } from '../draft.ts';
import type { Finding, PlaceText } from '../finding.ts';
import { type MacModel, macModel } from '../mac-models.ts';

/** Warns about links at receptacles that the file or the product's own data wants left free. */
export function avoidedReceptacle(draft: Draft, place: PlaceText): readonly Finding[] {
  const nodes = draftNodesByName(draft);
  return draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const declared = nodes.get(end.node)?.model;
      const why = reason(end, draft, declared === undefined ? undefined : macModel(declared.text), place);
      if (why === undefined) return [];
      const finding: Finding = {
        code: 'topology/avoided-receptacle',
        pointer: link.pointer,
        at: 'value',
        part: { start: end.start, end: end.end },
        detail: why,
        subject: `link ${link.text}`,
      };
      return [finding];
    }),
  );
}

function reason(end: DraftEnd, draft: Draft, model: MacModel | undefined, place: PlaceText): string | undefined {
  const own = draft.avoid.find(
    (one) => one.receptacle === end.receptacle && (one.node === undefined || one.node === end.node),
  );
  if (own !== undefined) return `The file itself wants it left free (${place({ pointer: own.pointer, at: 'value' })}).`;
  if (model === undefined || !model.avoid.includes(end.receptacle)) return undefined;
  return `On a ${model.name} receptacle ${end.receptacle} is the one next to Ethernet; the README of exo says not to use it for RDMA.`;
}
