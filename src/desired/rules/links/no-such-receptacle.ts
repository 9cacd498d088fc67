import { macModel } from '../../../model/macs/mac-models.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { listText } from '../../did-you-mean.ts';
import { type Draft, draftNodesByName } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A receptacle that a link or `avoid` names must exist on the declared model; unknown models are not judged. */
export function noSuchReceptacle(draft: Draft): readonly Finding[] {
  const nodes = draftNodesByName(draft);
  const named = [
    ...draft.links.flatMap((link) => link.ends.map((end) => ({ ...end, pointer: link.pointer }))),
    ...draft.avoid.flatMap((one) => {
      if (one.node === undefined) return [];
      const length = `${one.node}:${one.receptacle}`.length;
      return [{ node: one.node, receptacle: one.receptacle, pointer: one.pointer, start: 0, end: length }];
    }),
  ];
  return named.flatMap(({ node, receptacle, pointer, start, end }) => {
    const declared = nodes.get(node)?.model;
    const model = declared === undefined ? undefined : macModel(declared.text);
    if (model === undefined || declared === undefined || receptacle <= model.receptacles) return [];
    const numbers = Array.from({ length: model.receptacles }, (_, index) => String(index + 1));
    const finding: Finding = {
      code: 'topology/no-such-receptacle',
      pointer,
      at: 'value',
      part: { start, end },
      label: `${node} has ${model.receptacles}`,
      detail: `${node} is a ${model.name} (${declared.text}) with receptacles ${listText(numbers)}.`,
      subject: nodeSubject(node),
      others: [{ pointer: declared.pointer, at: 'value', detail: 'The model is declared here.' }],
    };
    return [finding];
  });
}
